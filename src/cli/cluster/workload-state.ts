import type { Hold } from "../../domain/decision/hold.ts";
import { fieldsOf, numberOf } from "../../domain/model/kinds/replica-counts.ts";
import { podsCarryHash, type Workload, type WorkloadObject } from "../../domain/model/workload.ts";
import type { PacingFlags } from "../../domain/policy/pacing-flags.ts";
import { conditionsOf, type KubernetesReason, kubernetesWord } from "./kubernetes-reason.ts";
import type { PodCount, ReadPods } from "./pods.ts";

/** What a workload is, for a person: the states of `wave list`, in the order of its help. */
export const workloadStates = {
  current: "every Pod runs with the current configuration",
  rolling: "Kubernetes is replacing its Pods, or waits for new ones to be available",
  due: "Wave writes it now; where that lasts, Wave does not run or may not write it",
  held: "it is due, and something holds it: a window, a wave, a person",
  waiting: "something that its Pods require is missing",
  failed: "its last rollout failed or takes too long",
  behind: "Wave has written it, and Kubernetes does not replace its Pods: it is paused, or OnDelete",
  tooLarge: "it asks for more than one object may cost",
  unknown: "it hangs on what you may not read",
  ignored: "it has not opted in",
} as const;

/** One of them. */
export type WorkloadState = keyof typeof workloadStates;

/** Every {@link WorkloadState}. */
export const workloadStateNames = Object.keys(workloadStates) as readonly WorkloadState[];

/** Where a workload stands. */
export interface AssessedState {
  readonly state: WorkloadState;
  /** Why it is not current, as one word; "" where there is nothing to say. */
  readonly because: string;
  /** The same in one line for a person; "" where the plan's own reason says it. */
  readonly message: string;
  /** Since when, as far as the API tells it: milliseconds since the epoch. */
  readonly since: number | undefined;
}

/** What a standing is told from. */
export interface StateFacts {
  readonly object: WorkloadObject;
  readonly workload: Workload;
  /** As `explain` tells it. */
  readonly outcome: string;
  readonly reason: string;
  readonly hold: Hold | undefined;
  /** The first ConfigMap or Secret that could not be read. */
  readonly unread: string | undefined;
  readonly pods: ReadPods;
  readonly podCount: PodCount | undefined;
  /** What Kubernetes says of its Pods; null: nothing. */
  readonly kubernetes: KubernetesReason | null;
  /** Since when its Pods do not show what it reads, milliseconds since the epoch; undefined where nobody knows. */
  readonly waitsSince: number | undefined;
  readonly flags: PacingFlags;
  readonly now: number;
}

/** Where a workload stands: what is due comes first, then what became of what was written. */
export function assessState(facts: StateFacts): AssessedState {
  const { outcome, hold, reason, waitsSince } = facts;
  switch (outcome) {
    case "current":
      return rolloutStanding(facts);
    case "held":
      return { state: "held", because: hold?.reason ?? "", message: hold?.message ?? reason, since: waitsSince };
    case "waiting":
      return { state: "waiting", because: "missing", message: reason, since: undefined };
    case "overLimit":
      return { state: "tooLarge", because: "budget", message: reason, since: undefined };
    case "ignore":
      return {
        state: "ignored",
        because: facts.workload.optIn.state === "unclear" ? "unclear" : "",
        message: reason,
        since: undefined,
      };
    case "unknown":
      return { state: "unknown", because: facts.unread ?? "key", message: reason, since: undefined };
    default:
      return { state: "due", because: outcome, message: reason, since: waitsSince };
  }
}

/** Nothing is due: what Kubernetes has made of what was written last. */
function rolloutStanding(facts: StateFacts): AssessedState {
  const { object, workload, pods, podCount, kubernetes, flags, now } = facts;
  const { progress } = workload;
  const since = workload.rolledAt === 0 ? undefined : workload.rolledAt * 1000;
  const word = kubernetesWord(kubernetes);
  const of = podCount === undefined ? "" : `: ${describePodCount(podCount)}`;
  if (progress.state === "failed") {
    const { says = "deadline" } = progress;
    const why = says === "deadline" ? "its progress deadline is exceeded" : `its status says ${says}`;
    return { state: "failed", because: word ?? says, message: `${why}${of}`, since };
  }
  if (progress.state === "progressing") {
    if (since === undefined || progress.selfTimed || now - since < flags.rolloutTimeoutMs)
      return { state: "rolling", because: word ?? "", message: `its Pods are being replaced${of}`, since };
    return { state: "failed", because: word ?? "timeout", message: `its rollout takes longer than it may${of}`, since };
  }
  if (!podsCarryHash(workload)) return { state: "current", because: "", message: "", since };
  if (podCount === undefined) {
    const why = pods.state === "unread" ? `: ${pods.why}` : "";
    return { state: "unknown", because: "pods", message: `its Pods could not be read${why}`, since: undefined };
  }
  const wanted = desiredPods(object);
  // A Rollout with blueGreen keeps those of before for a while after they have been replaced.
  const keepsOthers = progress.state === "complete" && wanted > 0 && podCount.current >= wanted;
  if (keepsOthers || (podCount.current === podCount.total && podCount.total >= wanted)) {
    const at =
      progress.state === "idle" || progress.since === undefined ? since : Math.max(progress.since * 1000, since ?? 0);
    return { state: "current", because: "", message: "", since: at };
  }
  const [because, why] = whatHoldsPods(object);
  const lacking = podCount.total < wanted ? `; ${wanted} are to be` : "";
  return { state: "behind", because: word ?? because, message: `${describePodCount(podCount)}${lacking}${why}`, since };
}

/** `2 of 3 Pods run with the current configuration`. */
export function describePodCount({ current, total }: PodCount): string {
  if (total === 0) return "there are no Pods";
  return `${current} of ${total} ${total === 1 ? "Pod runs" : "Pods run"} with the current configuration`;
}

/** How many Pods there are to be. */
export function desiredPods({ spec, status }: WorkloadObject): number {
  const [asked, told] = [fieldsOf(spec), fieldsOf(status)];
  return numberOf(told.desiredNumberScheduled) ?? ("replicas" in asked ? (numberOf(asked.replicas) ?? 1) : 0);
}

/** Of a StatefulSet, and of the kinds of OpenKruise. */
interface UpdateStrategy extends Pauses {
  readonly type?: string;
  readonly rollingUpdate?: Pauses | undefined;
}

interface Pauses {
  readonly paused?: boolean;
  readonly partition?: number | string;
}

/** Why Kubernetes leaves Pods as they are, by its own rules. */
function whatHoldsPods({ spec }: WorkloadObject): readonly [word: string, why: string] {
  if (spec === undefined) return ["", ""];
  if ("paused" in spec && spec.paused) return ["paused", ", because it is paused"];
  const strategy = ("updateStrategy" in spec ? spec.updateStrategy : undefined) as UpdateStrategy | undefined;
  if (strategy?.type === "OnDelete") return ["OnDelete", ", because its update strategy is OnDelete"];
  // A CloneSet has them a level higher.
  const { paused, partition = 0 } = { ...strategy, ...strategy?.rollingUpdate };
  if (paused) return ["paused", ", because its update strategy is paused"];
  if (partition !== 0 && partition !== "0%") return ["partition", `, because its partition is ${partition}`];
  return ["pods", ""];
}

/** Since when the rollout of a workload stands where it does, as its status tells; milliseconds since the epoch. */
export function statusProgressSince(object: WorkloadObject, { rolledAt }: Pick<Workload, "rolledAt">): number {
  const progressing = conditionsOf(object).find(({ type }) => type === "Progressing")?.lastUpdateTime;
  return Math.max(rolledAt * 1000, Date.parse(progressing ?? "") || 0);
}
