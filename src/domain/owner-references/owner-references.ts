// Owner references between workloads and the ConfigMaps and Secrets that they read: who owns what. Pure.
import type { Workload } from "../model/workload.ts";
import { isOptedIn } from "../policy/opted-in.ts";
import type { Policy } from "../policy/policy.ts";
import { rolloutPolicyOf } from "../policy/rollout-policy.ts";
import { isStored } from "../references/references.ts";
import { keyOfOwner, type Owners, type OwnersPlan, ownerText } from "./owners.ts";

/**
 * What Wave does with the owner references to a workload in the ConfigMaps and Secrets of its namespace.
 * "own": the objects that the workload references get an owner reference.
 * "release": all owner references to the workload are removed, then its finalizer.
 * "removeFinalizer": only the finalizer is removed, because the Namespace is being deleted.
 * "none": nothing changes, because Wave only observes the workload.
 */
type OwnershipAction = "own" | "release" | "removeFinalizer" | "none";

/** Returns the action for a workload if the policy sets `ownership`. It is never "none" for a workload that is being deleted. */
export function ownershipActionOf(workload: Workload, policy: Policy): OwnershipAction {
  // The roles of Wave there may be deleted at any time. Without them the finalizer would block the Namespace forever.
  if (policy.namespacePolicy?.deleting) return "removeFinalizer";
  if (workload.deleting) return "release";
  if (rolloutPolicyOf(workload, policy).mode.value === "observe") return "none";
  if (policy.ownership !== "keep" || !isOptedIn(workload, policy)) return "release";
  return namesOwnObjects(workload) ? "own" : "release";
}

/** Reports whether a workload names objects of its namespace, existing or not, so that its finalizer does not depend on them. */
function namesOwnObjects({ references, namespace, peer }: Workload): boolean {
  const own = references.some((reference) => reference.namespace === namespace && isStored(reference));
  return own || (peer?.patterns.some(({ kind }) => kind !== "SecretProviderClass") ?? false);
}

/**
 * How many workloads Wave adds as owners of one object, the first by name. Each takes 200 bytes of the object, which every
 * client that watches the object receives.
 */
export const maxOwners = 100;

/**
 * Returns the changes of the owner references of one object; undefined if there are none. `readers` are the workloads of its
 * namespace that reference the object; `workload` finds a workload by its key; `policy` is that of the namespace.
 *
 * A workload is added as an owner only after it has the finalizer. An owner is removed only if it has the finalizer and must not
 * be an owner: references to a workload without the finalizer belong to other clients. While workloads are owners, the Namespace
 * is an owner too. An object with an existing owner is never garbage collected, and a foreground deletion does not wait for
 * finalizers before it deletes the dependents of a workload
 * (https://github.com/kubernetes/kubernetes/blob/master/pkg/controller/garbagecollector/garbagecollector.go, classifyReferences).
 */
export function planOwners(
  { workloads: owners, namespaceOwner: hasNamespaceOwner, controlled }: Owners,
  readers: Iterable<Workload>,
  workload: (key: string) => Workload | undefined,
  policy: Policy,
): OwnersPlan | undefined {
  const mayOwn = (each: Workload) => each.oldFinalizer && each.uid !== "" && ownershipActionOf(each, policy) === "own";
  const wanted = new Map(
    (controlled ? [] : [...readers].filter(mayOwn))
      .map((each) => [ownerText(each), each] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, maxOwners),
  );
  const isManaged = (text: string) => {
    const owner = workload(keyOfOwner(text));
    if (owner?.oldFinalizer !== true || ownerText(owner) !== text) return false;
    const action = ownershipActionOf(owner, policy);
    return action === "own" || action === "release";
  };
  const dropped = owners.filter((text) => !wanted.has(text) && isManaged(text));
  const existing = new Set(owners);
  const added = [...wanted].flatMap(([text, each]) => (existing.has(text) ? [] : [each]));
  const left = owners.length - dropped.length;
  const namespaceOwner = wanted.size > 0 || (hasNamespaceOwner && left > 0);
  if (added.length === 0 && dropped.length === 0 && namespaceOwner === hasNamespaceOwner) return undefined;
  return { added, dropped, namespaceOwner };
}
