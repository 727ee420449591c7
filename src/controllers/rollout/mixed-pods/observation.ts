import type { Pod } from "#kubernetes";
import { readsOtherContent } from "../../../domain/config/hash.ts";
import { trackedReferences } from "../../../domain/config/tracked-references.ts";
import { findConfig, type Lookup } from "../../../domain/config/view-of-references.ts";
import type { WorkloadObject } from "../../../domain/model/workload-references.ts";
import { type Workload, workloadKey } from "../../../domain/model/workload-shape.ts";
import type { RolloutPlan } from "../../../domain/outcomes/outcomes.ts";
import { isUnpinned } from "../../../domain/pinning/pod-pins.ts";
import { observePod, readConfigOf } from "../../../domain/pods/observed-pod.ts";
import { podOwner, podSelector } from "../../../domain/pods/pod-owner.ts";
import { configStateOf, readMargins } from "../../../domain/pods/pod-state.ts";
import { type ConfigObservation, endOf, type Span } from "../../../domain/pods/spans.ts";
import { rulesFor } from "../../../domain/policy/rules.ts";
import type { ConfigName } from "../../../domain/references/references.ts";
import { type KubeObject, resources } from "../../../kube/api/resources.ts";
import { type FreshListOptions, freshList } from "../../../kube/reads/reads.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { LeaderParts } from "../../leader-context.ts";
import { hasCaughtUp } from "../freshness/caught-up.ts";
import type { ReconcileOutcome } from "../memory/outcome.ts";
import type { UnsettledChanges } from "../memory/pacing-memory.ts";
import type { Findings } from "../memory/workload-memory.ts";

/**
 * Returns what a run has shown about the live configuration; undefined if it has shown nothing, "ignored" if Wave ignores the workload.
 * "replaced": a rollout with the same hash replaces all Pods. In the spans, the live configuration differed from what was recorded beside
 * the hash, and was that of the hash itself. `changes` are those that were seen before the run.
 */
export function observationOf(
  outcome: ReconcileOutcome,
  changes: UnsettledChanges | undefined,
  findings: Pick<Findings, "caughtUpWith">,
  lookup: Lookup,
  clock: Clock,
): ConfigObservation | "ignored" | "replaced" | undefined {
  if (outcome.type !== "done" && outcome.type !== "written") return undefined;
  const isRolled = outcome.type === "written";
  const workload = isRolled ? outcome.before : outcome.workload;
  if (isRolled) {
    const { plan } = outcome;
    if (plan.outcome !== "roll" || plan.again) return undefined;
    if (plan.hash !== undefined && readsOtherContent(workload, plan.hash)) return "replaced";
  }
  const now = clock.wall();
  const difference = isRolled ? { differs: true, liveHash: outcome.plan.hash } : differenceOf(outcome.plan);
  if (difference === undefined || difference === "ignored") return difference;
  // Whether the caches once matched the recorded hash, so that a difference is a later change.
  const caughtUp = isRolled || hasCaughtUp(findings, workload);
  const { recordedHash: hash, recordedConfig, progress, uid, differed: annotation } = workload;
  if (hash === undefined && recordedConfig === undefined) return undefined;
  const onWall = (at: number) => now - (clock.monotonic() - at);
  return {
    uid,
    hash,
    differs: difference.differs,
    // After the caches once matched the hash, a difference without a change of an object comes from the references of the workload.
    mayBeEdited: isRolled || !caughtUp || changes !== undefined,
    liveHash: difference.liveHash,
    // The watch may be behind: the API has the time of most changes.
    changedFrom: Math.min(
      now,
      ...(changes ? [onWall(changes.first), changes.storedFrom ?? now] : storedTimes(difference, lookup)),
    ),
    changedTo: Math.min(now, changes === undefined ? (templateFixedAt(workload, lookup) ?? now) : onWall(changes.last)),
    certain: caughtUp,
    complete: progress.state === "complete" && !isRolled,
    annotation,
    now,
  };
}

/**
 * Returns the times that the API has of the changed objects, in milliseconds since the epoch. If Wave has not seen the changes, they may
 * be those of earlier changes, because the API has no time of a removal.
 */
function storedTimes({ changed = [] }: Difference, lookup: Lookup): readonly number[] {
  const times = changed.map((each) => findConfig(lookup, each)?.changedAt ?? 0);
  return times.filter((at) => at > 0).map((at) => at * 1000);
}

/**
 * Returns a time before the last edit of the pod template, if no tracked object changed since. Then the edit ended the difference, for example
 * because the template names no missing key any more, and its Pods read what is current.
 */
function templateFixedAt({ references, templateEditedAt }: Workload, lookup: Lookup): number | undefined {
  const changed = references.map((each) => findConfig(lookup, each)?.changedAt ?? 0);
  if (templateEditedAt <= Math.max(0, ...changed)) return undefined;
  return templateEditedAt * 1000 - readMargins.clocksMs - 1_000;
}

interface Difference {
  readonly differs: boolean;
  readonly liveHash: string | undefined;
  readonly changed?: readonly ConfigName[] | undefined;
}

function differenceOf(plan: RolloutPlan): Difference | "ignored" | undefined {
  switch (plan.outcome) {
    case "current":
      return { differs: false, liveHash: plan.view.hash };
    case "held": {
      const { due } = plan;
      if (due.outcome !== "roll") return undefined;
      return due.again
        ? { differs: false, liveHash: due.hash }
        : { differs: true, liveHash: due.hash, changed: due.changed };
    }
    // A part of the configuration is missing. A container that does not need it may start.
    case "waiting":
      return { differs: true, liveHash: undefined, changed: [] };
    case "ignore":
      return "ignored";
    default:
      return undefined;
  }
}

/** What the Pods of a workload run, after its configuration was reverted or its Pods were not pinned. */
interface PodsRead {
  /** The number of Pods that serve. */
  readonly total: number;
  readonly mixed: number;
  readonly otherHash: number;
  /** The number of Pods that are not ready and older than the end of the last span: their status may be behind. */
  readonly unsettled: number;
}

/**
 * Lists the Pods of a workload by its selector, in pages, and returns what they run. `countsUnpinned`: whether Pods that read no copy count,
 * although their template names copies. Rejects with the errors of requests.
 */
export async function readPods(
  object: WorkloadObject,
  workload: Workload,
  spans: readonly Span[],
  countsUnpinned: boolean,
  { caches, policy, ...options }: LeaderParts<"policy", "lookup" | "kinds"> & FreshListOptions,
): Promise<PodsRead> {
  const { namespace, recordedHash: hash, rolledAt } = workload;
  const config = readConfigOf(trackedReferences(workload, caches.lookup, rulesFor(workload, policy)).references);
  const history = { hash, spans, changedAt: undefined, rolledAt: rolledAt * 1000 };
  const lastEnd = Math.max(...spans.map(endOf));
  const key = workloadKey(workload);
  const kinds = caches.kinds();
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
