import type { ConfigView } from "../../domain/config/hash.ts";
import { needsLegacyVerification } from "../../domain/config/legacy-hash.ts";
import {
  type Change,
  changesBetween,
  describeChanges,
  describeMissing,
} from "../../domain/config/view-of-references.ts";
import { isSchedulingHeld } from "../../domain/model/scheduling-hold.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import type { DuePlan } from "../../domain/outcomes/outcomes.ts";
import { planRollout } from "../../domain/plan/plan.ts";
import { rulesFor } from "../../domain/policy/rules.ts";
import { configKey } from "../../domain/references/references.ts";
import type { FoundWorkload } from "../cluster/read/pods.ts";
import { hashFormOf } from "../cluster/running-wave/known-policy.ts";
import { isUnread, lookupIn, readableReferences } from "../cluster/snapshot/live-plan.ts";
import { type Style, sentences } from "../output/sentences.ts";
import type { ClusterState, ClusterStates, ComparedWith } from "./cluster-states.ts";
import type { WorkloadPair } from "./list-pairs.ts";

/** The effect of the manifests on one workload, regardless of when it rolls. */
interface PlannedEffect {
  readonly effect: DiffEffect;
  /** One line for people. */
  readonly reason: string;
  /** The changes of the configuration that the Pods read. */
  readonly changes: readonly Change[];
}

/** A workload without and with the manifests, and the effect of the manifests. */
export interface PlannedPair {
  readonly pair: WorkloadPair;
  /** The workload with the manifests. If its recorded hash cannot be verified, it is assumed to be current. */
  readonly after: FoundWorkload;
  /** The configuration that its Pods run with, if known or assumed. */
  readonly seen: ConfigView | undefined;
  /** Undefined if the manifests have no effect. */
  readonly effect: PlannedEffect | undefined;
}

/** Plans one workload with and without the manifests, by `planRollout`, and returns the difference. */
export function planPair(
  pair: WorkloadPair,
  { before, after, comparedWith }: Pick<ClusterStates, "before" | "after" | "comparedWith">,
): PlannedPair {
  const first = pair.before && planIn(before, pair.before.workload);
  const view = viewOf(first);
  const isAssumed = comparedWith === "base" || (pair.before && isUncertain(pair.before.workload, before));
  const assumed = isAssumed ? view : undefined;
  const old = pair.before && assumed ? planIn(before, currentWith(pair.before.workload, assumed)) : first;
  const workload = assumed ? currentWith(pair.after.workload, assumed) : pair.after.workload;
  const seen = old?.outcome === "current" ? view : undefined;
  const plan = planIn(after, workload, seen);
  const next = viewOf(plan);
  const changes = view && next ? changesBetween(view, next) : [];
  const planned = effectOf({ pair, old, plan, changes, state: after, comparedWith });
  const effect =
    planned && assumed && planned.effect !== "unknown" && comparedWith === "cluster"
      ? {
          ...planned,
          reason: sentences(planned.reason, "This effect assumes that the Pods of the workload are current now"),
        }
      : planned;
  return { pair, after: { ...pair.after, workload }, seen, effect };
}

function viewOf(plan: DuePlan | undefined): ConfigView | undefined {
  return plan !== undefined && "view" in plan ? plan.view : undefined;
}

/** Returns the workload with the hash of the configuration that can be read. */
function currentWith(workload: Workload, view: ConfigView): Workload {
  return { ...workload, recordedHash: view.hash, recordedConfig: undefined };
}

interface PairPlans {
  readonly pair: WorkloadPair;
  /** Undefined if the workload does not exist. */
  readonly old: DuePlan | undefined;
  readonly plan: DuePlan;
  readonly changes: readonly Change[];
  readonly state: ClusterState;
  readonly comparedWith: ComparedWith;
}

function planIn({ read, policy }: ClusterState, workload: Workload, seen?: ConfigView): DuePlan {
  const readable = { ...workload, references: readableReferences(workload.references, read) };
  return planRollout(readable, lookupIn(read), rulesFor(workload, policy), seen);
}

/** Reports whether the recorded hash cannot be verified: an unknown key, a hash of another controller, or unread objects. */
function isUncertain(workload: Workload, { read, policy: { keys } }: ClusterState): boolean {
  const form = hashFormOf(workload.recordedHash, keys);
  return needsLegacyVerification(workload) || form === "unknown key" || unreadOf(workload, read).length > 0;
}

function unreadOf({ references }: Workload, read: ClusterState["read"]) {
  return references.filter((reference) => isUnread(read.get(configKey(reference))));
}

function effectOf(facts: PairPlans): PlannedEffect | undefined {
  const { pair, old, plan, changes } = facts;
  const isIn = plan.outcome !== "ignore" && plan.outcome !== "cleanUp";
  if (old === undefined) return isIn ? createdEffect(facts) : undefined;
  if (pair.changesTemplate) {
    const more = isIn && plan.outcome !== "current" && differs(facts) ? reasonOf(facts) : "";
    return { effect: "template", reason: sentences("The pod template changes", more), changes };
  }
  if (!differs(facts)) return unreadEffect(facts);
  switch (plan.outcome) {
    case "ignore":
    case "cleanUp":
      return undefined;
    case "current":
      return isDue(old) ? { effect: "notDue", reason: sentences(plan.reason), changes } : undefined;
    case "recorded":
    case "waiting":
    case "overLimit":
      return { effect: plan.outcome, reason: sentences(plan.reason), changes };
    case "firstHash":
    case "roll":
      return unreadEffect(facts, old.outcome === "waiting" && facts.comparedWith === "cluster") ?? rolledEffect(facts);
  }
}

function isDue({ outcome }: DuePlan): boolean {
  return outcome === "roll" || outcome === "firstHash";
}

/** Reports whether the manifests change the plan or the configuration of the Pods. */
function differs({ old, plan, changes }: PairPlans): boolean {
  return changes.length > 0 || (old?.outcome !== plan.outcome && !(old && isDue(old) && isDue(plan)));
}

function rolledEffect(facts: PairPlans): PlannedEffect {
  const { pair, changes } = facts;
  const effect = isSchedulingHeld(pair.after.workload) ? "starts" : "roll";
  return { effect, reason: reasonOf(facts), changes };
}

function reasonOf({ pair, old, plan, changes }: PairPlans): string {
  if (old === undefined || !isDue(old) || changes.length === 0) return sentences(plan.reason);
  return sentences("Already due", describeChanges(changes, pair.after.workload.namespace));
}

function createdEffect({ plan }: PairPlans): PlannedEffect {
  if (plan.outcome === "waiting")
    return { effect: "waiting", reason: sentences("New workload", plan.reason), changes: [] };
  if (plan.outcome === "overLimit") return { effect: "overLimit", reason: sentences(plan.reason), changes: [] };
  return { effect: "created", reason: "New workload.", changes: [] };
}

/** Returns the unknown effect if an object could not be read, so that its change or its existence is unknown. */
function unreadEffect({ pair, state }: PairPlans, always = false): PlannedEffect | undefined {
  const wanted = unreadOf(pair.after.workload, state.read).filter(
    (reference) => always || state.overlaid.has(configKey(reference)),
  );
  if (wanted.length === 0) return undefined;
  return {
    effect: "unknown",
    reason: `Cannot read ${describeMissing(wanted, pair.after.workload.namespace)}.`,
    changes: [],
  };
}

/** The effects of the manifests on a workload, with their meanings. */
export const diffEffects = {
  roll: "Wave rolls the workload.",
  held: "A rollout becomes due, but a hold applies.",
  template: "The manifests change the pod template, so Kubernetes replaces the Pods in any case.",
  waiting: "Something that the Pods require is missing. Running Pods are not changed.",
  created:
    "The workload is new. Without webhooks, Wave replaces its first Pods once if they may read an earlier configuration.",
  starts: "The configuration of pending Pods becomes complete, so they start.",
  recorded: "Wave records the current configuration without a restart.",
  notDue: "A rollout that is due now is no longer needed.",
  overLimit: "The workload exceeds a limit of Wave, so Wave does not roll it.",
  unknown: "You do not have permission to read something that the effect depends on.",
} as const;

/** The effect of the manifests on one workload. */
export type DiffEffect = keyof typeof diffEffects;

/** The effects that replace existing Pods, now or later. */
export const replacing: ReadonlySet<DiffEffect> = new Set<DiffEffect>(["roll", "held", "template"]);

/** The color of each effect in the table of `wave diff`. */
export const effectStyles: Readonly<Record<DiffEffect, Style>> = {
  roll: "cyan",
  held: "yellow",
  template: "cyan",
  waiting: "red",
  created: "green",
  starts: "green",
  recorded: "dim",
  notDue: "green",
  overLimit: "red",
  unknown: "yellow",
};
