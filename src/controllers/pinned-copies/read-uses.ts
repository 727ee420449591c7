import type { ConfigMap, OwnerReference, Pod } from "#kubernetes";
import { contentBytes, toConfig } from "../../domain/config/digest.ts";
import type { WorkloadRow } from "../../domain/model/kind-row.ts";
import { workloadKey } from "../../domain/model/workload-shape.ts";
import {
  type CollectMoment,
  type CollectPlan,
  type CopyUses,
  collectCopies,
  type StoredCopy,
} from "../../domain/pinning/collect.ts";
import { isNamedByContent } from "../../domain/pinning/pinned-lookup.ts";
import { isUnpinned, namesInTemplate, pinsOf, referencedNames } from "../../domain/pinning/pod-pins.ts";
import { podOwner } from "../../domain/pods/pod-owner.ts";
import { pinnedCopyLabel, unusedSince } from "../../domain/references/annotations.ts";
import { valueAtPointer } from "../../domain/syntax/json.ts";
import { type KubeObject, metadataOnlyList, resources } from "../../kube/api/resources.ts";
import { type FreshListOptions, freshList } from "../../kube/reads/reads.ts";

/** A pin in the template of a workload whose copy does not exist. */
export interface LostCopy {
  readonly row: WorkloadRow;
  readonly workload: OwnerReference;
  readonly source: string;
  readonly copy: string;
}

/**
 * Reads what uses the copies of a namespace: workloads first, then their revisions, then Pods. A use moves only in this order, from a
 * template to its revision and its Pods, so none is missed between two lists. Workloads that have opted out are read, too. Kubernetes
 * deletes the revisions beyond `revisionHistoryLimit` by itself, so each revision that exists is kept.
 */
async function readUses(
  copies: readonly StoredCopy[],
  namespace: string,
  kinds: readonly WorkloadRow[],
  options: FreshListOptions,
): Promise<UsesRead> {
  const found = new UsesRead(copies, kinds);
  for (const row of kinds) {
    for await (const object of freshList<KubeObject>(row, namespace, options)) found.addWorkload(row, object);
  }
  for await (const object of freshList<KubeObject>(resources.replicaSets, namespace, options)) {
    const isScaledUp = Number(valueAtPointer(object, "/spec/replicas") ?? 1) > 0;
    found.addRevision(object, valueAtPointer(object, "/spec/template"), isScaledUp);
  }
  for await (const object of freshList<KubeObject>(resources.controllerRevisions, namespace, options)) {
    found.addRevision(object, valueAtPointer(object, "/data/spec/template"), false);
  }
  for await (const pod of freshList<KubeObject & Pod>(resources.pods, namespace, options)) found.addPod(pod);
  return found;
}

/** What uses the copies of a namespace now. */
export class UsesRead implements CopyUses {
  readonly running = new Set<string>();
  readonly old = new Set<string>();
  readonly workloads = new Map<string, OwnerReference[]>();
  /** The workloads to which the old revisions of {@link CopyUses.old} belong, by the names of the copies. */
  readonly oldOf = new Map<string, OwnerReference[]>();
  /** The keys of the workloads with Pods that read no copy although their template names copies. */
  readonly unpinned = new Set<string>();
  readonly lost: LostCopy[] = [];
  readonly #kinds: readonly WorkloadRow[];
  readonly #copies: ReadonlySet<string>;
  /** The names of the current and the update revision of each StatefulSet: Pods are created from both. */
  readonly #revisionsInUse = new Set<unknown>();

  constructor(copies: readonly StoredCopy[], kinds: readonly WorkloadRow[]) {
    this.#copies = new Set(copies.map(({ name }) => name));
    this.#kinds = kinds;
  }

  addWorkload(row: WorkloadRow, object: KubeObject): void {
    const template = valueAtPointer(object, row.template);
    const { name, uid, deletionTimestamp } = object.metadata;
    const workload = { apiVersion: row.apiVersion, kind: row.kind, name, uid };
    for (const copy of this.#used(namesInTemplate(template))) {
      this.running.add(copy);
      if (!deletionTimestamp) append(this.workloads, copy, workload);
    }
    for (const field of ["currentRevision", "updateRevision"]) {
      this.#revisionsInUse.add(valueAtPointer(object, `/status/${field}`));
    }
    if (deletionTimestamp) return;
    for (const [source, copy] of pinsOf(template) ?? []) {
      if (!this.#copies.has(copy)) this.lost.push({ row, workload, source, copy });
    }
  }

  addRevision({ metadata }: KubeObject, template: unknown, isScaledUp: boolean): void {
    const isInUse = isScaledUp || this.#revisionsInUse.has(metadata.name);
    const owner = metadata.ownerReferences?.find(({ controller }) => controller);
    for (const copy of this.#used(namesInTemplate(template))) {
      (isInUse ? this.running : this.old).add(copy);
      if (!isInUse && owner !== undefined) append(this.oldOf, copy, owner);
    }
  }

  /** Adds a Pod by what its spec references. The containers of a finished Pod never start again. */
  addPod(pod: KubeObject & Pod): void {
    const phase = valueAtPointer(pod, "/status/phase");
    if (phase === "Succeeded" || phase === "Failed") return;
    const names = referencedNames(valueAtPointer(pod, "/spec"));
    for (const copy of this.#used(names)) this.running.add(copy);
    const owner = isUnpinned(pod) ? podOwner(pod.metadata, this.#kinds) : undefined;
    if (owner !== undefined) this.unpinned.add(workloadKey(owner));
  }

  #used(names: ReadonlySet<string>): ReadonlySet<string> {
    return names.intersection(this.#copies);
  }
}

function append(map: Map<string, OwnerReference[]>, copy: string, owner: OwnerReference): void {
  const owners = map.get(copy);
  if (owners === undefined) map.set(copy, [owner]);
  else if (!owners.some(({ uid }) => uid === owner.uid)) owners.push(owner);
}

/**
 * Reads the copies of a namespace, then everything that may use them, and decides. The copies are read first: a client that takes a marked
 * copy into use after that changes its resourceVersion. `momentOf` returns the moment of the decision.
 */
export async function planSweep(
  namespace: string,
  kinds: readonly WorkloadRow[],
  listing: FreshListOptions,
  momentOf: (copies: readonly StoredCopy[]) => CollectMoment,
): Promise<{ readonly copies: readonly StoredCopy[]; readonly uses: UsesRead; readonly plan: CollectPlan }> {
  const copies = await readCopies(namespace, listing);
  const uses = await readUses(copies, namespace, kinds, listing);
  return { copies, uses, plan: collectCopies(copies, uses, momentOf(copies)) };
}

const labelSelector = `${pinnedCopyLabel}=true`;

/**
 * Reads the pinned copies of a namespace, without those that are being deleted. Keeps their sizes, not their content. An object that only has
 * the label is left out: otherwise Wave would delete it for a client that may write labels and delete nothing.
 */
async function readCopies(namespace: string, options: FreshListOptions): Promise<readonly StoredCopy[]> {
  const copies: StoredCopy[] = [];
  for await (const object of freshList<KubeObject & ConfigMap>(resources.configMaps, namespace, options, {
    labelSelector,
  })) {
    const { name, uid, resourceVersion, creationTimestamp, deletionTimestamp, ownerReferences, annotations } =
      object.metadata;
    if (deletionTimestamp || !object.immutable || !isNamedByContent(toConfig("ConfigMap", object))) continue;
    copies.push({
      name,
      uid,
      resourceVersion,
      createdAt: creationTimestamp ?? "",
      bytes: contentBytes(object),
      owners: ownerReferences ?? [],
      unusedSince: annotations?.[unusedSince],
    });
  }
  return copies;
}

/** Returns the namespaces that have pinned copies. */
export async function readNamespacesWithCopies(options: FreshListOptions): Promise<ReadonlySet<string>> {
  const namespaces = new Set<string>();
  const query = { labelSelector, accept: metadataOnlyList };
  for await (const { metadata } of freshList<KubeObject>(resources.configMaps, undefined, options, query)) {
    if (metadata.namespace) namespaces.add(metadata.namespace);
  }
  return namespaces;
}
