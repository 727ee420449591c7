import { readsOtherContent } from "../config/hash.ts";
import { isExcluded } from "../config/tracked-references.ts";
import { findConfig, type Lookup } from "../config/view-of-references.ts";
import { isSchedulingHeld } from "../model/scheduling-hold.ts";
import type { Workload } from "../model/workload.ts";
import type { DueDecision } from "../outcomes/outcomes.ts";
import type { HashKeys } from "../policy/hash-key.ts";
import type { ClusterHold, PacingFlags } from "../policy/policy.ts";
import type { RolloutPolicy } from "../policy/rollout-policy.ts";
import { type ConfigName, configKey, type Reference } from "../references/references.ts";
import type { Moment } from "./moment.ts";

/** A due write, and everything that may hold it. */
export interface DueWrite {
  readonly workload: Workload;
  readonly decision: DueDecision;
  readonly lookup: Lookup;
  readonly policy: RolloutPolicy;
  readonly clusterHold: ClusterHold | undefined;
  readonly flags: PacingFlags;
  readonly hashKeys: HashKeys | undefined;
  readonly moment: Moment;
  /** The objects whose changes made it due, found by {@link changedObjects}. */
  readonly changed: readonly ConfigName[];
}

/**
 * Reports whether a write replaces running Pods. A write that ends a scheduling hold does not: its Pods are pending. A write of
 * the recorded hash does not either.
 */
export function replacesPods(workload: Workload, decision: DueDecision): boolean {
  if (decision.outcome !== "roll" && decision.outcome !== "firstHash") return false;
  if (decision.outcome === "roll" && decision.again) return true;
  const isNew = decision.hash !== workload.recordedHash || readsOtherContent(workload, decision.hash);
  return isNew && !isSchedulingHeld(workload);
}

/**
 * Returns the objects that a workload reads and whose changes made it due. An object that it no longer reads is not included:
 * that is an edit of the workload. If the previous configuration is unknown, returns the objects that changed after the last
 * rollout, by the times of the API. If there are none, returns missing objects, because one of them may have existed.
 */
export function changedObjects({
  workload,
  decision,
  lookup,
  policy,
}: Pick<DueWrite, "workload" | "decision" | "lookup" | "policy">): readonly ConfigName[] {
  if (decision.outcome === "roll" && decision.changed !== undefined) {
    // A regular expression match is not a reference, and it is unknown after the object is deleted.
    if (workload.peer?.patterns.length) return decision.changed;
    const read = new Set(workload.references.map(configKey));
    return decision.changed.filter((object) => read.has(configKey(object)));
  }
  if (!("view" in decision)) return [];
  const shown = new Set(decision.view.entries.map(configKey));
  const seen = (reference: Reference) =>
    reference.reads !== "existence" &&
    (reference.namespace === workload.namespace || shown.has(configKey(reference))) &&
    !isExcluded(workload, policy, reference);
  const matched = workload.peer?.patterns.length ? decision.view.entries : [];
  const all: readonly ConfigName[] = [...workload.references.filter(seen), ...matched];
  const objects = [...new Map(all.map((each) => [configKey(each), each])).values()];
  const found = objects
    .map((object) => ({ object, config: findConfig(lookup, object) }))
    .filter(({ config }) => config?.directive !== "ignore" && config?.directive !== "unselected")
    // A SecretProviderClass that no Pod has mounted is unknown. That is not a change.
    .filter(({ object, config }) => config !== undefined || object.kind !== "SecretProviderClass");
  const since = found.filter(({ config }) => config && (config.changedAt ?? 0) >= workload.hashWrittenAt);
  const changed = since.length > 0 ? since : found.filter(({ config }) => config === undefined);
  return changed.map(({ object: { kind, namespace, name } }) => ({ kind, namespace, name }));
}
