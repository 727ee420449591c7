import type { Caches } from "../../cache/caches.ts";
import { type Workload, type WorkloadObject, workloadKey } from "../../domain/model/workload.ts";
import { dueWrite, holdOfReplacement, holdRows } from "../../domain/pacing/holds.ts";
import { planRollout } from "../../domain/plan/plan.ts";
import { desiredPods } from "../../domain/pods/desired-pods.ts";
import { planRepair } from "../../domain/pods/plan-repair.ts";
import { type ClusterPolicy, policyFor } from "../../domain/policy/cluster-policy.ts";
import { rolloutPolicyOf } from "../../domain/policy/rollout-policy.ts";
import type { ObjectEvent } from "../../kube/events/event-object.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { PodsRead } from "./read-pods.ts";
import { blockedEvent, evictedEvent, heldEvent, type MixedTexts, remainingEvent, repairEvent } from "./texts.ts";
import { evictPod, type MixedPodWrites, rollAgain } from "./writes.ts";

/** What is remembered of the repair of one workload. Times are in monotonic milliseconds. */
export interface RepairProgress {
  /** The number of mixed Pods when they were last read. */
  readonly mixed: number;
  /** When to continue. */
  readonly nextAt: number;
  /** The end of the last span of the repair, in milliseconds since the epoch. */
  readonly lastEnd?: number;
  /** The number of mixed Pods at the start of the repair. */
  readonly atStart?: number;
  readonly evictions?: number;
  /** Whether a hold prevents the next step. It may end at any time. */
  readonly isHeld?: boolean;
  /** Whether a rollout was started. */
  readonly hasRolled?: boolean;
  /** Whether the API server has refused an eviction for lack of permission. */
  readonly mayNotEvict?: boolean;
}

/** The mixed Pods of a workload. */
export interface FoundMixedPods {
  readonly object: WorkloadObject;
  readonly workload: Workload;
  readonly pods: PodsRead;
  readonly progress: RepairProgress | undefined;
  /** The Events of this repair that were reported, so that each is reported once, also if the API server refuses a step again and again. */
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
  readonly onReplaced: (how: "evicted" | "rolled") => void;
  /** Takes a permit for one write. Resolves to false if the leadership is over. */
  readonly takePermit: () => Promise<boolean>;
}

/** The delay of the next step after a write, and for each Pod of the workload, in milliseconds: each step lists all Pods. */
const stepMs = 5_000;
const stepPerPodMs = 20;
/** The delay of the next look at Pods that wait for a person, for a hold or for a disruption budget. */
const waitMs = 60_000;
/** Maximum number of remembered Events of one repair. */
const mostReported = 50;

/**
 * Carries out the next step of a repair: one eviction, a rollout, or only an Event. Returns what to remember; "over" if Wave has replaced
 * Pods and they still look mixed, because clocks are wrong. Rejects with the errors of requests.
 */
export async function repairPods(
  { object, workload, pods, progress: before, reported, texts }: FoundMixedPods,
  options: RepairPodsOptions,
): Promise<RepairProgress | "over"> {
  const { clock } = options;
  const { mixedCount, total } = pods;
  const count = { mixed: mixedCount, total };
  const after = (ms: number, changes: Partial<RepairProgress> = {}): RepairProgress => {
    const atStart = before?.atStart || mixedCount;
    return { ...before, isHeld: false, atStart, ...changes, mixed: mixedCount, nextAt: clock.monotonic() + ms };
  };
  const nextMs = Math.max(stepMs, total * stepPerPodMs);
  const report = (event: Omit<ObjectEvent, "regarding">) => {
    if (reported.has(event.message)) return;
    // The number of Pods in the text may change without end.
    if (reported.size >= mostReported) reported.clear();
    reported.add(event.message);
    postEvent(workload, event, options);
  };
  // A rollout is replacing Pods.
  if (workload.progress.state === "progressing" && pods.otherHash > 0) return after(nextMs);
  const held = repairHold(workload, options);
  if (held === "outdated") return after(nextMs);
  if (held !== undefined) {
    const untilMs = held.until === undefined ? waitMs : Math.max(stepMs, held.until - clock.wall());
    // An interval ends soon by itself.
    if (!holdRows[held.reason].isShort) report(heldEvent(texts, count, held.message));
    return after(Math.min(waitMs, untilMs), { isHeld: true });
  }
  const { evictions = 0, atStart = mixedCount, hasRolled, mayNotEvict } = before ?? {};
  const wish = rolloutPolicyOf(workload, policyFor(workload, options.policy)).mixed;
  const repair = planRepair({ object, total: Math.max(total, atStart), mixed: atStart, wish, mayEvict: !mayNotEvict });
  if (repair.action === "report") {
    report(repairEvent(texts, repair, count));
    return after(waitMs);
  }
  if (hasRolled && workload.progress.state === "progressing") return after(nextMs);
  if (hasRolled || evictions > 2 * atStart) {
    report(remainingEvent(texts, count));
    return "over";
  }
  if (repair.action === "roll") {
    report(repairEvent(texts, repair, count));
    if (!(await options.takePermit())) return after(0);
    if ((await rollAgain(workload, options)) === "changed") return after(stepMs);
    options.onReplaced("rolled");
    return after(nextMs, { hasRolled: true });
  }
  if (evictions === 0) report(repairEvent(texts, repair, count));
  const isWaiting = total < desiredPods(object) || pods.notReady > 0;
  const [next] = pods.mixed;
  if (isWaiting || next === undefined) return after(nextMs);
  if (!(await options.takePermit())) return after(0);
  const evicted = await evictPod(workload.namespace, next, options);
  switch (evicted.type) {
    case "evicted":
      options.onReplaced("evicted");
      postEvent(workload, evictedEvent(texts, next.name), options);
      return after(nextMs, { evictions: evictions + 1 });
    case "changed":
      return after(stepMs);
    case "forbidden":
      return after(0, { mayNotEvict: true });
    case "blocked":
      report(blockedEvent(texts, next.name));
      return after(Math.max(2 * stepMs, Math.min(waitMs, evicted.retryAfterMs)));
  }
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
