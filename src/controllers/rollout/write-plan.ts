// Writes a plan, and remembers what was written.
import { changesTemplate, fieldOfKind, resourceName } from "../../domain/model/kind-row.ts";
import type { Workload } from "../../domain/model/workload.ts";
import { isRollAgain } from "../../domain/outcomes/outcomes.ts";
import { patchFor } from "../../domain/patch/workload-patch.ts";
import { type Lookup, planRollout, type RolloutPlan } from "../../domain/plan/plan.ts";
import { policyFor } from "../../domain/policy/policy.ts";
import { applyPlan } from "./apply/apply.ts";
import { type PinsForWrite, storePins } from "./apply/store-pins.ts";
import { rememberOwnWrite } from "./freshness/caught-up.ts";
import type { Planned } from "./freshness/live-plan.ts";
import { rememberUncertainWrite, writtenOutcome } from "./freshness/uncertain-write.ts";
import { rememberNewest } from "./memory/newest-workload.ts";
import type { ReconcileOutcome } from "./memory/outcome.ts";
import { hasBeenComplete, lastWriteAfter } from "./memory/pacing-memory.ts";
import { hasOtherTemplate, seenPins } from "./memory/seen-pins.ts";
import { rememberProven, rememberRolledAgain } from "./mixed-pods/mixed-pods.ts";
import { mustNotWrite, type ReconcileOptions, type ReconcileRun } from "./reconcile-run.ts";
import { refusedTexts } from "./report/event-texts.ts";

const noPins: PinsForWrite = { type: "pins", pins: {} };

/**
 * Writes a plan: the copies that its Pods are to read, and then one patch. "stale": the workload has changed, and is to be planned again.
 * `cached` is its state in the caches.
 */
export async function writePlan(
  { key, findings }: ReconcileRun,
  cached: Workload,
  { workload, plan: planned, lookup }: Planned,
  options: ReconcileOptions,
): Promise<ReconcileOutcome | { readonly type: "stale"; readonly workload: Workload }> {
  const { caches, clock, policy, views } = options;
  if (mustNotWrite(options)) return { type: "stopped" };
  const pins = isRollAgain(planned) ? noPins : await storePins(workload, planned, lookup, options);
  if (pins.type === "stale") return { type: "conflict", workload };
  if (pins.type === "unavailable") return { ...pins, workload };
  if (pins.type === "stopped" || mustNotWrite(options)) return { type: "stopped" };
  const plan = withUnpinnedWarning(planned, pins.unpinned);
  if (pins.pins.pinned !== undefined) findings.writtenPins = pins.pins.pinned;
  const patch = patchFor(workload, plan, clock.wall(), pins.pins) ?? [];
  const hasPassed =
    !["restarts", "exited"].includes(`${options.newPods(workload)?.state}`) &&
    hasBeenComplete(findings, workload, policy.pacing?.soakMs ?? 0, clock.monotonic());
  const result = await applyPlan(workload, plan, patch, options);
  switch (result.type) {
    case "written": {
      const { after } = result;
      const hasHash = after.recordedHash !== undefined || !("hash" in plan) || isRollAgain(plan);
      if (!hasHash && changesTemplate(workload.row, patch)) return hashRemovedOnWrite(after);
      rememberNewest(findings, cached, after, clock.monotonic());
      findings.pins = seenPins(after);
      if (isRollAgain(plan)) rememberRolledAgain(findings);
      if (plan.outcome === "recorded" && plan.cause === "proven") rememberProven(findings, after);
      findings.lastWrite = lastWriteAfter(findings, workload, plan, hasPassed, clock.monotonic());
      // A plan from the caches shows that they have what was written.
      if (lookup === caches.lookup || matches(after, caches.lookup, options)) rememberOwnWrite(findings, after);
      return writtenOutcome(key, findings, workload, plan, views);
    }
    case "stale": {
      const { newest } = result;
      rememberNewest(findings, cached, newest, clock.monotonic());
      if (hasOtherTemplate(findings.pins, newest)) return { type: "conflict", workload: newest };
      findings.pins = seenPins(newest, findings.pins);
      return { type: "stale", workload: newest };
    }
    case "unavailable":
      if (result.uncertain && !isRollAgain(plan))
        rememberUncertainWrite(findings, workload, plan, hasPassed, clock.monotonic());
      return { ...result, workload };
    case "refused":
      return { ...result, workload };
    case "gone":
    case "stopped":
      return result;
  }
}

/** Reports whether the caches have what a workload was just written with. */
function matches(after: Workload, lookup: Lookup, { policy }: Pick<ReconcileOptions, "policy">): boolean {
  return planRollout(after, lookup, policyFor(after, policy)).outcome === "current";
}

function withUnpinnedWarning(plan: RolloutPlan, message: string | undefined): RolloutPlan {
  return message === undefined ? plan : { ...plan, warnings: [...plan.warnings, { reason: "Unpinned", message }] };
}

/**
 * The API server accepted the write and removed the hash: it prunes fields that a CustomResourceDefinition does not have
 * (https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#field-pruning).
 */
function hashRemovedOnWrite(workload: Workload): ReconcileOutcome {
  const { row } = workload;
  const field = `${fieldOfKind(row, "spec.template")}.metadata.annotations`;
  return { type: "refused", workload, message: refusedTexts.hashRemovedOnWrite(resourceName(row), field) };
}
