import type { Workload } from "../model/workload.ts";
import { isIn } from "../policy/is-in.ts";
import type { Policy } from "../policy/policy.ts";
import { rolloutPolicyOf } from "../policy/rollout-policy.ts";
import { isStored } from "../references/references.ts";
import { keyOfOwner, type Owners, type OwnersPlan, ownerText } from "./owners.ts";

/**
 * What a workload is to the ConfigMaps and Secrets of its namespace: it "owns" those that it references; it "releases" all
 * that refer to it, and then its finalizer; it "goes" with them, because its Namespace is being deleted, and only its finalizer is
 * taken off; or it "leaves" everything as it is, because Wave only observes it.
 */
export type Bearing = "owns" | "releases" | "goes" | "leaves";

/** Decides that, where the policy says anything of ownership. A workload that is being deleted never leaves anything as it is. */
export function bearingOf(workload: Workload, policy: Policy): Bearing {
  // Wave's roles there may go at any moment, and without them the finalizer would keep the Namespace for ever.
  if (policy.ofNamespace?.(workload.namespace)?.ends) return "goes";
  if (workload.deleting) return "releases";
  if (rolloutPolicyOf(workload, policy).mode.value === "observe") return "leaves";
  if (policy.ownership !== "keep" || !isIn(workload, policy)) return "releases";
  return namesAny(workload) ? "owns" : "releases";
}

/** Whether objects there refer to it, or will: not whether they exist, so that its finalizer does not come and go with them. */
function namesAny({ references, namespace, foreign }: Workload): boolean {
  const own = references.some((reference) => reference.namespace === namespace && isStored(reference));
  return own || (foreign?.patterns.some(({ kind }) => kind !== "SecretProviderClass") ?? false);
}

/**
 * How many workloads Wave makes owners of one object, the first by name. Each takes 200 bytes of the object, which everybody
 * who watches it is sent.
 */
export const mostOwners = 100;

/**
 * What is to become of the owner references of one object; undefined where they are as they are to be. `readers` are the
 * workloads of its namespace that reference it, `workload` finds one by its key.
 *
 * An owner is added only once its finalizer is on it, and one is dropped that has the finalizer and is no owner (any more):
 * what refers to a workload without it is somebody else's. As long as workloads are among the owners, the Namespace is too:
 * who has an owner that lives is never collected, and a deletion in the foreground waits for no finalizer before it deletes
 * what belongs to the workload
 * (https://github.com/kubernetes/kubernetes/blob/master/pkg/controller/garbagecollector/garbagecollector.go, classifyReferences).
 */
export function planOwners(
  { workloads: owners, anchored: isAnchored, controlled }: Owners,
  readers: Iterable<Workload>,
  workload: (key: string) => Workload | undefined,
  policy: Policy,
): OwnersPlan | undefined {
  const mayOwn = (each: Workload) => each.oldFinalizer && each.uid !== "" && bearingOf(each, policy) === "owns";
  const wanted = new Map(
    (controlled ? [] : [...readers].filter(mayOwn))
      .map((each) => [ownerText(each), each] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, mostOwners),
  );
  const isBatches = (text: string) => {
    const owner = workload(keyOfOwner(text));
    if (owner?.oldFinalizer !== true || ownerText(owner) !== text) return false;
    const bearing = bearingOf(owner, policy);
    return bearing === "owns" || bearing === "releases";
  };
  const dropped = owners.filter((text) => !wanted.has(text) && isBatches(text));
  const own = new Set(owners);
  const added = [...wanted].flatMap(([text, each]) => (own.has(text) ? [] : [each]));
  const left = owners.length - dropped.length;
  const anchored = wanted.size > 0 || (isAnchored && left > 0);
  if (added.length === 0 && dropped.length === 0 && anchored === isAnchored) return undefined;
  return { added, dropped, anchored };
}
