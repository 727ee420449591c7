import type { Caches } from "../../cache/caches.ts";
import { keptPodsOf } from "../../domain/model/kept-pods.ts";
import { type Workload, type WorkloadObject, workloadKey } from "../../domain/model/workload.ts";
import { dueWrite, holdOfReplacement, holdRows } from "../../domain/pacing/holds.ts";
import { planRollout } from "../../domain/plan/plan.ts";
import { type ClusterPolicy, policyFor } from "../../domain/policy/cluster-policy.ts";
import type { ObjectEvent } from "../../kube/events/event-object.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { PodsRead } from "./read-pods.ts";
import { heldEvent, keptEvent, type MixedTexts, remainingEvent, rollingEvent } from "./texts.ts";
import { type MixedPodWrites, rollAgain } from "./writes.ts";

/** What is remembered of the repair of one workload. Times are in monotonic milliseconds. */
export interface RepairProgress {
  /** The number of mixed Pods when they were last read. */
  readonly mixed: number;
  /** When to continue. */
  readonly nextAt: number;
  /** The end of the last span of the repair, in milliseconds since the epoch. */
  readonly lastEnd?: number;
  /** Whether a hold prevents the rollout. It may end at any time. */
  readonly isHeld?: boolean;
  /** Whether a rollout was started. */
  readonly hasRolled?: boolean;
}

/** The mixed Pods of a workload. */
export interface FoundMixedPods {
  readonly object: WorkloadObject;
  readonly workload: Workload;
  readonly pods: PodsRead;
  readonly progress: RepairProgress | undefined;
  /** The Events of this repair that were reported, so that each is reported once, also if the API server refuses the rollout again and again. */
  readonly reported: Set<string>;
  /** The texts of its Events. */
  readonly texts: MixedTexts;
}

/** What {@link repairPods} needs. */
export interface RepairPodsOptions extends MixedPodWrites {
  readonly caches: Pick<Caches, "lookup">;
  readonly policy: ClusterPolicy;
  /** Accepts an Event, which waits for its turn. */
  readonly post: (event: ObjectEvent) => void;
  readonly log: Logger;
  /** Takes a permit for one write. Resolves to false if the leadership is over. */
  readonly takePermit: () => Promise<boolean>;
}

/** The delay of the next step after a write, and for each Pod of the workload, in milliseconds: each step lists all Pods. */
const stepMs = 5_000;
const stepPerPodMs = 20;
/** The delay of the next look at Pods that wait for a person or for a hold. */
const waitMs = 60_000;
/** Maximum number of remembered Events of one repair. */
const mostReported = 50;

/**
 * Rolls a workload with mixed Pods, or only reports them. Returns what to remember; "over" if Wave has rolled and Pods still look mixed,
 * because clocks are wrong. Rejects with the errors of requests.
 */
export async function repairPods(
  { object, workload, pods, progress: before, reported, texts }: FoundMixedPods,
  options: RepairPodsOptions,
): Promise<RepairProgress | "over"> {
  const { clock } = options;
  const after = (ms: number, changes: Partial<RepairProgress> = {}): RepairProgress => {
    return { ...before, isHeld: false, ...changes, mixed: pods.mixed, nextAt: clock.monotonic() + ms };
  };
  const nextMs = Math.max(stepMs, pods.total * stepPerPodMs);
  const report = (event: Omit<ObjectEvent, "regarding">) => {
    if (reported.has(event.message)) return;
    // The number of Pods in the text may change without end.
    if (reported.size >= mostReported) reported.clear();
    reported.add(event.message);
    postEvent(workload, event, options);
  };
  // A rollout is replacing Pods.
  if (workload.progress.state === "progressing" && (pods.otherHash > 0 || before?.hasRolled)) return after(nextMs);
  const held = repairHold(workload, options);
  if (held === "outdated") return after(nextMs);
  if (held !== undefined) {
    const untilMs = held.until === undefined ? waitMs : Math.max(stepMs, held.until - clock.wall());
    // An interval ends soon by itself.
    if (!holdRows[held.reason].isShort) report(heldEvent(texts, pods, held.message));
    return after(Math.min(waitMs, untilMs), { isHeld: true });
  }
  const kept = keptPodsOf(object)?.by;
  if (kept === "paused" || kept === "OnDelete") {
    report(keptEvent(texts, pods, kept));
    return after(waitMs);
  }
  if (before?.hasRolled) {
    report(remainingEvent(texts, pods));
    return "over";
  }
  report(rollingEvent(texts, pods));
  if (!(await options.takePermit())) return after(0);
  if ((await rollAgain(workload, options)) === "changed") return after(stepMs);
  return after(nextMs, { hasRolled: true });
}

/** Returns what holds a repair now; "outdated" if the configuration differs again. */
export function repairHold(
  workload: Workload,
  { caches, policy, clock }: Pick<RepairPodsOptions, "caches" | "policy" | "clock">,
) {
  const ofWorkload = policyFor(workload, policy);
  const plan = planRollout(workload, caches.lookup, ofWorkload);
  if (plan.outcome !== "current") return "outdated";
  const { view } = plan;
  const decision = { outcome: "roll", hash: view.hash, view, changed: undefined } as const;
  const now = clock.wall();
  const moment = { now, changes: undefined, lastWrite: undefined, progressSince: now };
  return holdOfReplacement(dueWrite(workload, decision, caches.lookup, ofWorkload, moment));
}

function postEvent(workload: Workload, event: Omit<ObjectEvent, "regarding">, { post, log }: RepairPodsOptions): void {
  const { row, namespace, name, uid } = workload;
  const regarding = { apiVersion: row.apiVersion, kind: row.kind, namespace, name, uid };
  log.info("mixed Pods", { workload: workloadKey(workload), event: event.message });
  post({ regarding, ...event, repeats: "perhaps" });
}
