import { type Change, changesBetween } from "../../domain/config/changes.ts";
import type { ConfigView } from "../../domain/config/hash.ts";
import { needsLegacyVerification } from "../../domain/config/legacy/legacy-verification.ts";
import { describeChanges, describeMissing } from "../../domain/config/messages.ts";
import { isSchedulingHeld } from "../../domain/model/scheduling-hold.ts";
import type { Workload } from "../../domain/model/workload.ts";
import { type DuePlan, planRollout } from "../../domain/plan/plan.ts";
import { configKey } from "../../domain/references/references.ts";
import { policyOf } from "../cluster/inherited-flags.ts";
import { isUnread, lookupIn, readableReferences } from "../cluster/live-plan.ts";
import { hashFormOf } from "../cluster/hash-keys.ts";
import type { ClusterStates, ClusterState } from "./cluster-states.ts";
import type { DiffEffect } from "./diff-effects.ts";
import type { WorkloadPair } from "./list-pairs.ts";

/** What becomes of one workload, whenever. */
export interface PlannedEffect {
  readonly effect: DiffEffect;
  /** One line for a person. */
  readonly reason: string;
  /** What its Pods would see otherwise than now. */
  readonly changes: readonly Change[];
}

/** A pair as it is planned. */
export interface PlannedPair {
  readonly pair: WorkloadPair;
  /** The workload after, as far as that can be told: where nobody can say what its hash stands for it is taken to be current. */
  readonly after: Workload;
  /** What its Pods see now, where that is known or supposed. */
  readonly seen: ConfigView | undefined;
  /** Undefined: nothing that a person has to know. */
  readonly verdict: PlannedEffect | undefined;
}

/** Plans one workload as it is and as it would be, by `planRollout`, and says what differs. */
export function planPair(pair: WorkloadPair, { before, after }: Pick<ClusterStates, "before" | "after">): PlannedPair {
  const first = pair.before && planIn(before, pair.before.workload);
  const view = viewOf(first);
  const supposed = pair.before && view && isUncertain(pair.before.workload, before) ? view : undefined;
  const old = pair.before && supposed ? planIn(before, currentWith(pair.before.workload, supposed)) : first;
  const workload = supposed ? currentWith(pair.after.workload, supposed) : pair.after.workload;
  const seen = old?.outcome === "current" ? view : undefined;
  const plan = planIn(after, workload, seen);
  const next = viewOf(plan);
  const changes = view && next ? changesBetween(view, next) : [];
  const told = verdictOf({ pair, old, plan, changes, state: after });
  const verdict =
    told && supposed && told.effect !== "unknown"
      ? { ...told, reason: `${told.reason}, if its Pods are current now` }
      : told;
  return { pair, after: workload, seen, verdict };
}

function viewOf(plan: DuePlan | undefined): ConfigView | undefined {
  return plan !== undefined && "view" in plan ? plan.view : undefined;
}

/** The workload as if its hash had been made from what can be read. */
function currentWith(workload: Workload, view: ConfigView): Workload {
  return { ...workload, recordedHash: view.hash, recordedConfig: undefined };
}

interface Facts {
  readonly pair: WorkloadPair;
  /** Undefined: it is not there. */
  readonly old: DuePlan | undefined;
  readonly plan: DuePlan;
  readonly changes: readonly Change[];
  readonly state: ClusterState;
}

function planIn({ read, policy }: ClusterState, workload: Workload, seen?: ConfigView): DuePlan {
  const readable = { ...workload, references: readableReferences(workload.references, read) };
  return planRollout(readable, lookupIn(read), policyOf(policy), seen);
}

/** Whether nobody here can say what its recorded hash stands for. */
function isUncertain(workload: Workload, { read, policy: { keys } }: ClusterState): boolean {
  const form = hashFormOf(workload.recordedHash, keys);
  return needsLegacyVerification(workload) || form === "unknown key" || unreadOf(workload, read).length > 0;
}

function unreadOf({ references }: Workload, read: ClusterState["read"]) {
  return references.filter((reference) => isUnread(read.get(configKey(reference))));
}

function verdictOf(facts: Facts): PlannedEffect | undefined {
  const { pair, old, plan, changes } = facts;
  const isIn = plan.outcome !== "ignore" && plan.outcome !== "cleanUp";
  if (old === undefined) return isIn ? createdVerdict(facts) : undefined;
  if (pair.changesTemplate) {
    const besides = isIn && plan.outcome !== "current" && isOther(facts) ? `; ${reasonOf(facts)}` : "";
    return { effect: "template", reason: `its pod template changes${besides}`, changes };
  }
  if (!isOther(facts)) return unreadVerdict(facts);
  switch (plan.outcome) {
    case "ignore":
    case "cleanUp":
      return undefined;
    case "current":
      return isDue(old) ? { effect: "spared", reason: plan.reason, changes } : undefined;
    case "recorded":
      return { effect: "note", reason: plan.reason, changes };
    case "waiting":
      return { effect: "waits", reason: plan.reason, changes };
    case "overLimit":
      return { effect: "tooLarge", reason: plan.reason, changes };
    case "firstHash":
    case "roll":
      return unreadVerdict(facts, old.outcome === "waiting") ?? rolledVerdict(facts);
  }
}

function isDue({ outcome }: DuePlan): boolean {
  return outcome === "roll" || outcome === "firstHash";
}

/** Whether anything that matters is otherwise after the manifests were applied. */
function isOther({ old, plan, changes }: Facts): boolean {
  return changes.length > 0 || (old?.outcome !== plan.outcome && !(old && isDue(old) && isDue(plan)));
}

function rolledVerdict(facts: Facts): PlannedEffect {
  const { pair, changes } = facts;
  const effect = isSchedulingHeld(pair.after.workload) ? "starts" : "roll";
  return { effect, reason: reasonOf(facts), changes };
}

function reasonOf({ pair, old, plan, changes }: Facts): string {
  if (old === undefined || !isDue(old) || changes.length === 0) return plan.reason;
  return `it is due already, and ${describeChanges(changes, pair.after.workload.namespace)}`;
}

function createdVerdict({ plan }: Facts): PlannedEffect {
  if (plan.outcome === "waiting") return { effect: "waits", reason: `it is created; ${plan.reason}`, changes: [] };
  if (plan.outcome === "overLimit") return { effect: "tooLarge", reason: plan.reason, changes: [] };
  return { effect: "new", reason: "it is created", changes: [] };
}

/** What cannot be told because something could not be read: whether a manifest changes it, or whether it is there. */
function unreadVerdict({ pair, state }: Facts, always = false): PlannedEffect | undefined {
  const wanted = unreadOf(pair.after.workload, state.read).filter(
    (reference) => always || state.overlaid.has(configKey(reference)),
  );
  if (wanted.length === 0) return undefined;
  return {
    effect: "unknown",
    reason: `could not read ${describeMissing(wanted, pair.after.workload.namespace)}`,
    changes: [],
  };
}
