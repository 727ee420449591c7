import type { OwnerReference } from "#kubernetes";
import type { WorkloadRow } from "../model/kind-row.ts";
import { type Workload, workloadKey } from "../model/workload.ts";
import { isDnsSubdomain } from "../syntax/dns-name.ts";
import { sharedString } from "../syntax/shared-string.ts";

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
function workloadOf(
  { apiVersion, kind, name, uid, controller }: OwnerReference,
  namespace: string,
  kinds: readonly WorkloadRow[],
) {
  const row = kinds.find((each) => each.kind === kind && groupOf(each.apiVersion) === groupOf(apiVersion));
  // Any client can write these texts.
  if (row === undefined || controller === true || uid.length > longestUid || !isDnsSubdomain(name)) return undefined;
  return sharedString(ownerText({ kind: row.id, namespace, name, uid }));
}

/** Returns the API group: all versions of a group have the same objects. */
function groupOf(apiVersion: string): string {
  return apiVersion.slice(0, apiVersion.indexOf("/") + 1);
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
