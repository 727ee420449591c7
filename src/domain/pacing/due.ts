import { isExcluded } from "../config/tracked-references.ts";
import type { Lookup } from "../config/view.ts";
import type { DueDecision } from "../decision/decision.ts";
import { isSchedulingHeld } from "../model/scheduling-hold.ts";
import type { Workload } from "../model/workload.ts";
import type { PacingFlags } from "../policy/pacing-flags.ts";
import type { RolloutPolicy } from "../policy/rollout-policy.ts";
import { type ConfigName, configKey, type Reference } from "../references/references.ts";
import type { Moment } from "./moment.ts";

/** A write that is due, and all that may hold it. */
export interface Due {
  readonly workload: Workload;
  readonly decision: DueDecision;
  readonly lookup: Lookup;
  readonly policy: RolloutPolicy;
  readonly flags: PacingFlags;
  readonly moment: Moment;
}

/**
 * Whether a write replaces running Pods. One that opens a closed gate does not: its Pods wait for nothing else, nor does
 * one that writes no other hash than there is.
 */
export function isRoll(workload: Workload, decision: DueDecision): boolean {
  if (decision.outcome !== "roll" && decision.outcome !== "firstHash") return false;
  return decision.hash !== workload.recordedHash && !isSchedulingHeld(workload);
}

/**
 * The objects that a workload reads and for whose changes it is due; that it has stopped reading one is a change of its own.
 * Where nobody knows what its hash was made from, those that have changed since its last roll, as the API tells it; where
 * none has, those that are not there, because one of them may have been.
 */
export function changedObjects({ workload, decision, lookup, policy }: Due): readonly ConfigName[] {
  if (decision.outcome === "roll" && decision.changed !== undefined) {
    // What an expression matches is no reference of its own; once it is gone nobody can say any more that it was.
    if (workload.foreign?.patterns.length) return decision.changed;
    const read = new Set(workload.references.map(configKey));
    return decision.changed.filter((object) => read.has(configKey(object)));
  }
  if (!("view" in decision)) return [];
  const shown = new Set(decision.view.entries.map(configKey));
  const seen = (reference: Reference) =>
    reference.reads !== "existence" &&
    (reference.namespace === workload.namespace || shown.has(configKey(reference))) &&
    !isExcluded(workload, policy, reference);
  const matched = workload.foreign?.patterns.length ? decision.view.entries : [];
  const all: readonly ConfigName[] = [...workload.references.filter(seen), ...matched];
  const objects = [...new Map(all.map((each) => [configKey(each), each])).values()];
  const found = objects
    .map((object) => ({ object, config: lookup(object.kind, object.namespace, object.name) }))
    .filter(({ config }) => config?.asks !== "ignore" && config?.asks !== "unselected")
    // Of one that no Pod has mounted nothing is known; that is no change.
    .filter(({ object, config }) => config !== undefined || object.kind !== "SecretProviderClass");
  const since = found.filter(({ config }) => config && (config.changedAt ?? 0) >= workload.rolledAt);
  const changed = since.length > 0 ? since : found.filter(({ config }) => config === undefined);
  return changed.map(({ object: { kind, namespace, name } }) => ({ kind, namespace, name }));
}
