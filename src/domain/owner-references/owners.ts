import type { OwnerReference } from "kubernetes-types/meta/v1.d.ts";
import type { WorkloadRow } from "../model/kind-row.ts";
import { type Workload, workloadKey } from "../model/workload.ts";
import { isDnsSubdomain } from "../syntax/dns-name.ts";
import { sharedString } from "../syntax/shared-string.ts";

/** What the owner references of a ConfigMap or Secret say, as far as it concerns Wave. */
export interface Owners {
  /** The workloads among its owners that do not control it, each as {@link ownerText} has it. */
  readonly workloads: readonly string[];
  /** Whether its Namespace is among them as Wave puts it there. */
  readonly anchored: boolean;
  /** Whether something controls it: when it is to go is then for that to say, and Wave adds nothing. */
  readonly controlled: boolean;
}

/** Nobody that concerns Wave. */
export const noOwners: Owners = { workloads: [], anchored: false, controlled: false };
const onlyControlled: Owners = { workloads: [], anchored: false, controlled: true };

/** The API server's own have 36 characters; it takes a MiB of anybody's text where a reference says one. */
const longestUid = 64;

/** What becomes of the owner references of one object. */
export interface OwnersPlan {
  readonly added: readonly Workload[];
  /** As {@link ownerText} has them. */
  readonly dropped: readonly string[];
  /** Whether its Namespace is to be among its owners. */
  readonly anchored: boolean;
}

/** Which owner is meant: the key of a workload, a space, and its uid. */
export function ownerText(workload: Pick<Workload, "kind" | "namespace" | "name" | "uid">): string {
  return `${workloadKey(workload)} ${workload.uid}`;
}

/** The key of the workload in such a text. */
export function keyOfOwner(text: string): string {
  return text.slice(0, text.indexOf(" "));
}

/**
 * Reads the owner references of an object, of workloads those of these kinds. A reference that controls (`controller: true`) is an operator's, whatever it
 * refers to.
 */
export function ownersOf(
  references: readonly OwnerReference[] | null | undefined,
  namespace: string,
  kinds: readonly WorkloadRow[],
): Owners {
  if (!references?.length) return noOwners;
  const workloads = references.flatMap((reference) => workloadOf(reference, namespace, kinds) ?? []);
  const anchored = references.some((reference) => isAnchor(reference, namespace));
  const controlled = references.some(({ controller }) => controller === true);
  if (workloads.length > 0 || anchored) return { workloads, anchored, controlled };
  return controlled ? onlyControlled : noOwners;
}

/**
 * The owner references of an object of that namespace after a plan, in the order in which they were. `namespaceUid` is only
 * looked at where the plan anchors what was not anchored.
 */
export function planned(
  references: readonly OwnerReference[],
  { added, dropped, anchored }: OwnersPlan,
  namespace: string,
  namespaceUid: string,
  kinds: readonly WorkloadRow[],
): readonly OwnerReference[] {
  const gone = new Set(dropped);
  const left = references.filter((reference) => {
    if (isAnchor(reference, namespace)) return anchored;
    return !gone.has(workloadOf(reference, namespace, kinds) ?? "");
  });
  const anchor = anchored && !left.some((reference) => isAnchor(reference, namespace));
  return [
    ...left,
    ...added.map(({ row, name, uid }) => owner(row.apiVersion, row.kind, name, uid)),
    ...(anchor ? [owner("v1", "Namespace", namespace, namespaceUid)] : []),
  ];
}

/** What a reference to a workload that does not control refers to; undefined for all others. */
function workloadOf(
  { apiVersion, kind, name, uid, controller }: OwnerReference,
  namespace: string,
  kinds: readonly WorkloadRow[],
) {
  const row = kinds.find((each) => each.kind === kind && groupOf(each.apiVersion) === groupOf(apiVersion));
  // It is anybody's text.
  if (row === undefined || controller === true || uid.length > longestUid || !isDnsSubdomain(name)) return undefined;
  return sharedString(ownerText({ kind: row.id, namespace, name, uid }));
}

/** The versions of a group have the same objects. */
function groupOf(apiVersion: string): string {
  return apiVersion.slice(0, apiVersion.indexOf("/") + 1);
}

/** Both are said, so that it is not taken for a Namespace that somebody else names as an owner. */
function isAnchor({ apiVersion, kind, name, controller, blockOwnerDeletion }: OwnerReference, namespace: string) {
  const isNamespace = apiVersion === "v1" && kind === "Namespace" && name === namespace;
  return isNamespace && controller === false && blockOwnerDeletion === false;
}

/** Deletion of the owner waits for nothing: its foreground deletion would else wait for Wave. */
function owner(apiVersion: string, kind: string, name: string, uid: string): OwnerReference {
  return { apiVersion, kind, name, uid, controller: false, blockOwnerDeletion: false };
}
