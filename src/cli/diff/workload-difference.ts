import type { Change } from "../../domain/config/view-of-references.ts";
import { type Workload, type WorkloadName, workloadKey } from "../../domain/model/workload-shape.ts";
import { isHalt } from "../../domain/pacing/holds.ts";
import { decide } from "../../domain/plan/decide.ts";
import { type ConfigName, configKey } from "../../domain/references/references.ts";
import { formatCount } from "../../domain/syntax/names.ts";
import { timeOf } from "../cluster/explanation/explained-outcome.ts";
import { workloadNotes } from "../cluster/explanation/workload-notes.ts";
import { type BatchesNow, batchesNow } from "../cluster/snapshot/batches-now.ts";
import { worldOf } from "../cluster/snapshot/live-plan.ts";
import { batchNumbers } from "../cluster/snapshot/workload-snapshot.ts";
import { sentences } from "../output/sentences.ts";
import type { ClusterStates } from "./cluster-states.ts";
import { pairKey } from "./list-pairs.ts";
import { type DiffEffect, diffEffects, type PlannedPair, planPair, replacing } from "./planned-pair.ts";

/** The effect on one workload; docs/commands.md promises the fields. Contains no value and no digest of a value. */
export interface WorkloadDifference extends WorkloadName {
  readonly effect: DiffEffect;
  /** The number of its batch in the namespace, from 1; null if the workload does not roll or waits for no batch. */
  readonly batch: number | null;
  /** One line for people. */
  readonly reason: string;
  /** The changes of the configuration that the Pods read. */
  readonly changes: readonly Change[];
  /** The hold; null if nothing holds the rollout. */
  readonly hold: { readonly reason: string; readonly message: string; readonly until: string | null } | null;
  /** Other settings that decide when Pods are replaced, one line each: paused, OnDelete. */
  readonly notes: readonly string[];
}

/** Returns the effects on all affected workloads, in rollout order. `now` is in milliseconds since the epoch. */
export function differencesOf(states: ClusterStates, now: number): readonly WorkloadDifference[] {
  const planned = states.pairs.map((pair) => planPair(pair, states));
  // Wave plans the workloads when the changes have settled.
  const paced = pacing(states, planned, now + states.after.policy.pacing.settleMs);
  return planned
    .filter(({ pair }) => states.affected.has(pairKey(pair)))
    .flatMap((each) => differenceOf(each, paced) ?? [])
    .sort(inOrder);
}

type Paced = (planned: PlannedPair) => Pick<WorkloadDifference, "batch" | "hold">;

/** Returns when each workload rolls, by `decide` and the batches of its namespace. */
function pacing({ after: { read, policy } }: ClusterStates, planned: readonly PlannedPair[], at: number): Paced {
  const found = planned.map(({ after }) => after);
  const seen = new Map(planned.map((each) => [pairKey(each.pair), each.seen]));
  const seenBy = (workload: Workload) => seen.get(workloadKey(workload));
  const batches = batchesNow({ found, read, policy, now: at, seen: seenBy });
  const numbers = numbersIn(batches, policy.pacing);
  return ({ after, seen: previous }) => {
    const world = worldOf(after, read, policy, at, { previous });
    // Each batch has a number. Only a halt is shown as a hold.
    const plan = decide({ ...world, batchHold: (...of) => haltOf(batches, ...of) });
    if (plan.outcome === "held") {
      const { reason, message, until } = plan.hold;
      return { batch: null, hold: { reason, message, until: timeOf(until) } };
    }
    const own = (plan.batched ?? []).map((object) => numbers(object, after.workload));
    return { batch: own.length === 0 ? null : Math.max(...own), hold: null };
  };
}

function haltOf({ holdOf }: BatchesNow, workload: Workload, changed: readonly ConfigName[]) {
  const hold = holdOf(workload, changed);
  return hold !== undefined && isHalt(hold) ? hold : undefined;
}

function numbersIn({ groupOf }: BatchesNow, flags: Parameters<typeof batchNumbers>[1]) {
  const known = new Map<string, ReadonlyMap<string, number>>();
  return (object: ConfigName, workload: Workload): number => {
    const key = `${workload.namespace} ${configKey(object)}`;
    const numbers = known.get(key) ?? batchNumbers(groupOf(object, workload.namespace), flags);
    known.set(key, numbers);
    return numbers.get(workloadKey(workload)) ?? 1;
  };
}

function differenceOf(planned: PlannedPair, paced: Paced): WorkloadDifference | undefined {
  const { pair } = planned;
  if (planned.effect === undefined) return undefined;
  const { kind, namespace, name } = pair.after.workload;
  const { effect, reason, changes } = planned.effect;
  const { batch, hold } = effect === "roll" ? paced(planned) : { batch: null, hold: null };
  const notes = replacing.has(effect) ? workloadNotes(pair.after.object, pair.after.workload) : [];
  return { kind, namespace, name, effect: hold === null ? effect : "held", batch, reason, changes, hold, notes };
}

function inOrder(a: WorkloadDifference, b: WorkloadDifference): number {
  const batch = (each: WorkloadDifference) => each.batch ?? Number.POSITIVE_INFINITY;
  if (a.namespace !== b.namespace) return a.namespace < b.namespace ? -1 : 1;
  if (batch(a) !== batch(b)) return batch(a) < batch(b) ? -1 : 1;
  return `${a.kind}/${a.name}` < `${b.kind}/${b.name}` ? -1 : 1;
}

/** The result of `wave diff`; docs/commands.md promises its fields. */
export interface Difference {
  readonly workloads: readonly WorkloadDifference[];
  /** Remarks about the manifests, one line each. */
  readonly notes: readonly string[];
}

/** Returns the number of workloads by effect: "3 workloads affected: 2 roll, 1 held." */
export function describeSummary({ workloads }: Pick<Difference, "workloads">): string {
  if (workloads.length === 0) return "No workload is affected.";
  const groups = Map.groupBy(workloads, ({ effect }) => effect);
  const counts = Object.keys(diffEffects).flatMap((effect) => {
    const count = groups.get(effect as DiffEffect)?.length ?? 0;
    return count === 0 ? [] : [`${formatCount(count)} ${effect}`];
  });
  const all = `${formatCount(workloads.length)} ${workloads.length === 1 ? "workload" : "workloads"} affected`;
  return `${all}: ${counts.join(", ")}.`;
}

/** Returns one line for people: the change, the hold, and other settings that decide when Pods are replaced. */
export function describeReason({ reason, hold, notes }: WorkloadDifference): string {
  return sentences(reason, hold === null ? "" : describeHold(hold), ...notes);
}

function describeHold(hold: NonNullable<WorkloadDifference["hold"]>): string {
  return hold.until === null || hold.message.includes(hold.until)
    ? hold.message
    : sentences(hold.message, `Until ${hold.until}`);
}
