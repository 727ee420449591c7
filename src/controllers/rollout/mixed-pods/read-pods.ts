import type { Pod } from "#kubernetes";
import { trackedReferences } from "../../../domain/config/tracked-references.ts";
import type { WorkloadRow } from "../../../domain/model/kind-row.ts";
import { type Workload, type WorkloadObject, workloadKey } from "../../../domain/model/workload.ts";
import { isUnpinned } from "../../../domain/pinning/pod-pins.ts";
import type { Lookup } from "../../../domain/plan/plan.ts";
import { observePod, readConfigOf } from "../../../domain/pods/observed-pod.ts";
import { podOwner, podSelector } from "../../../domain/pods/pod-owner.ts";
import { configStateOf, readMargins } from "../../../domain/pods/pod-state.ts";
import { endOf, type Span } from "../../../domain/pods/spans.ts";
import type { Policy } from "../../../domain/policy/policy.ts";
import type { KubeObject } from "../../../kube/api/api-types.ts";
import { resources } from "../../../kube/api/resources.ts";
import { type FreshListOptions, freshList } from "../../../kube/reads/fresh-list.ts";

/** What the Pods of a workload run, after its configuration was reverted or its Pods were not pinned. */
export interface PodsRead {
  /** The number of Pods that serve. */
  readonly total: number;
  readonly mixed: number;
  /** The number of Pods with another hash. */
  readonly otherHash: number;
  /** The number of Pods that are not ready and older than the end of the last span: their status may be behind. */
  readonly unsettled: number;
}

/** What {@link readPods} needs to know about a workload. */
export interface PodsToRead {
  readonly object: WorkloadObject;
  readonly workload: Workload;
  readonly spans: readonly Span[];
  readonly lookup: Lookup;
  readonly policy: Policy;
  readonly kinds: readonly WorkloadRow[];
  /** Whether Pods that read no copy count, although their template names copies. */
  readonly countsUnpinned: boolean;
}

/** Lists the Pods of a workload by its selector, in pages, and returns what they run. Rejects with the errors of requests. */
export async function readPods(
  { object, workload, spans, lookup, policy, kinds, countsUnpinned }: PodsToRead,
  options: FreshListOptions,
): Promise<PodsRead> {
  const { namespace, recordedHash: hash, rolledAt } = workload;
  const config = readConfigOf(trackedReferences(workload, lookup, policy).references);
  const history = { hash, spans, changedAt: undefined, rolledAt: rolledAt * 1000 };
  const lastEnd = Math.max(...spans.map(endOf));
  const key = workloadKey(workload);
  const labelSelector = podSelector((object.spec as { readonly selector?: unknown } | undefined)?.selector);
  const seen = new Set<string>();
  let [total, mixed, otherHash, unsettled] = [0, 0, 0, 0];
  for await (const object of freshList<KubeObject & Pod>(resources.pods, namespace, options, { labelSelector })) {
    const owner = podOwner(object.metadata, kinds);
    // A list that had to start again yields a Pod twice.
    if (owner === undefined || workloadKey(owner) !== key || seen.has(object.metadata.uid)) continue;
    seen.add(object.metadata.uid);
    const pod = observePod(object, config, workload);
    if (pod.ending) continue;
    total++;
    if (pod.hash !== hash) otherHash++;
    if ((countsUnpinned && isUnpinned(object)) || configStateOf(pod, history) === "mixed") mixed++;
    if (!pod.ready && pod.hash === hash && pod.createdAt <= lastEnd + readMargins.clocksMs) unsettled++;
  }
  return { total, mixed, otherHash, unsettled };
}
