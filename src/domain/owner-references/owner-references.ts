// Owner references between workloads and the ConfigMaps and Secrets that they read: who owns what. Pure.

import type { OwnerReference } from "#kubernetes";
import { isOfKind, type WorkloadRow } from "../model/kind-row.ts";
import { type Workload, workloadKey } from "../model/workload-shape.ts";
import type { Policy } from "../policy/policy.ts";
import { isOptedIn, type Rules, rulesFor } from "../policy/rules.ts";
import { isStored } from "../references/references.ts";
import { sharedString } from "../syntax/json.ts";
import { isDnsSubdomain } from "../syntax/names.ts";

/**
 * What Wave does with the owner references to a workload in the ConfigMaps and Secrets of its namespace.
 * "own": the objects that the workload references get an owner reference.
 * "release": all owner references to the workload are removed, then its finalizer.
 * "removeFinalizer": only the finalizer is removed, because the Namespace is being deleted.
 * "none": nothing changes, because Wave only observes the workload.
 */
type OwnershipAction = "own" | "release" | "removeFinalizer" | "none";

/** Returns the action for a workload if the policy sets `ownership`. It is never "none" for a workload that is being deleted. */
export function ownershipActionOf(workload: Workload, rules: Rules): OwnershipAction {
  // The roles of Wave there may be deleted at any time. Without them the finalizer would block the Namespace forever.
  if (rules.namespacePolicy?.deleting) return "removeFinalizer";
  if (workload.deleting) return "release";
  if (rules.mode.value === "observe") return "none";
  if (rules.ownership !== "keep" || !isOptedIn(workload, rules)) return "release";
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
 * namespace that reference the object; `workload` finds a workload by its key.
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
  // What its expressions match is not needed.
  const actionOf = (each: Workload) =>
    ownershipActionOf(each, rulesFor({ namespace: each.namespace, policy: each.policy }, policy));
  const mayOwn = (each: Workload) => each.oldFinalizer && each.uid !== "" && actionOf(each) === "own";
  const wanted = new Map(
    (controlled ? [] : [...readers].filter(mayOwn))
      .map((each) => [ownerText(each), each] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, maxOwners),
  );
  const isManaged = (text: string) => {
    const owner = workload(keyOfOwner(text));
    if (owner?.oldFinalizer !== true || ownerText(owner) !== text) return false;
    const action = actionOf(owner);
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

/** The owner references of a ConfigMap or Secret that matter to Wave. */
export interface Owners {
  /** The owner workloads that are not the controller, each as {@link ownerText}. */
  readonly workloads: readonly string[];
  /** Whether the Namespace is an owner, in the form that Wave writes. */
  readonly namespaceOwner: boolean;
  /** Whether a controller owns the object. Then the controller decides about deletion, and Wave adds no owners. */
  readonly controlled: boolean;
}

/** No owner that matters to Wave. */
export const noOwners: Owners = { workloads: [], namespaceOwner: false, controlled: false };
const onlyControlled: Owners = { workloads: [], namespaceOwner: false, controlled: true };

/** The longest accepted uid. Uids of the API server have 36 characters, but a reference may contain a MiB of text. */
const longestUid = 64;

/** The changes of the owner references of one object. */
export interface OwnersPlan {
  readonly added: readonly Workload[];
  /** Owners as {@link ownerText}. */
  readonly dropped: readonly string[];
  /** Whether the Namespace must be an owner. */
  readonly namespaceOwner: boolean;
}

/** Returns the text that identifies an owner: the key of a workload, a space, and its uid. */
export function ownerText(workload: Pick<Workload, "kind" | "namespace" | "name" | "uid">): string {
  return `${workloadKey(workload)} ${workload.uid}`;
}

/** Returns the key of the workload in a text of {@link ownerText}. */
export function keyOfOwner(text: string): string {
  return text.slice(0, text.indexOf(" "));
}

/**
 * Reads the owner references of an object: workloads of these kinds and the Namespace. References with `controller: true` belong to
 * an operator, whatever they refer to.
 */
export function ownersOf(
  references: readonly OwnerReference[] | null | undefined,
  namespace: string,
  kinds: readonly WorkloadRow[],
): Owners {
  if (!references?.length) return noOwners;
  const workloads = references.flatMap((reference) => workloadOf(reference, namespace, kinds) ?? []);
  const namespaceOwner = references.some((reference) => isNamespaceOwner(reference, namespace));
  const controlled = references.some(({ controller }) => controller === true);
  if (workloads.length > 0 || namespaceOwner) return { workloads, namespaceOwner, controlled };
  return controlled ? onlyControlled : noOwners;
}

/**
 * Returns the owner references of an object after a plan, in their order. `namespaceUid` is used only if the plan adds the
 * Namespace as an owner.
 */
export function withPlannedOwners(
  references: readonly OwnerReference[],
  { added, dropped, namespaceOwner }: OwnersPlan,
  namespace: string,
  namespaceUid: string,
  kinds: readonly WorkloadRow[],
): readonly OwnerReference[] {
  const gone = new Set(dropped);
  const left = references.filter((reference) => {
    if (isNamespaceOwner(reference, namespace)) return namespaceOwner;
    return !gone.has(workloadOf(reference, namespace, kinds) ?? "");
  });
  const addsNamespace = namespaceOwner && !left.some((reference) => isNamespaceOwner(reference, namespace));
  return [
    ...left,
    ...added.map(({ row, name, uid }) => owner(row.apiVersion, row.kind, name, uid)),
    ...(addsNamespace ? [owner("v1", "Namespace", namespace, namespaceUid)] : []),
  ];
}

/** Returns the workload of a reference that is not the controller, as {@link ownerText}; undefined for other references. */
function workloadOf(reference: OwnerReference, namespace: string, kinds: readonly WorkloadRow[]) {
  const { name, uid, controller } = reference;
  const row = kinds.find((each) => isOfKind(reference, each));
  // Any client can write these texts.
  if (row === undefined || controller === true || uid.length > longestUid || !isDnsSubdomain(name)) return undefined;
  return sharedString(ownerText({ kind: row.id, namespace, name, uid }));
}

/** Reports whether a reference is the Namespace owner of Wave. Both fields are explicit, to distinguish it from one of another client. */
function isNamespaceOwner(
  { apiVersion, kind, name, controller, blockOwnerDeletion }: OwnerReference,
  namespace: string,
) {
  const isNamespace = apiVersion === "v1" && kind === "Namespace" && name === namespace;
  return isNamespace && controller === false && blockOwnerDeletion === false;
}

/** Returns an owner reference that does not block the deletion of the owner: its foreground deletion would wait for Wave. */
function owner(apiVersion: string, kind: string, name: string, uid: string): OwnerReference {
  return { apiVersion, kind, name, uid, controller: false, blockOwnerDeletion: false };
}
