// Writes a plan, and remembers what was written.

import { ownerCheck } from "../../cache/workloads/workload-reads.ts";
import type { Lookup } from "../../domain/config/view-of-references.ts";
import { changesTemplate, fieldOfKind, resourceName } from "../../domain/model/kind-row.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import { isRollAgain, type RolloutPlan } from "../../domain/outcomes/outcomes.ts";
import { type PinsToWrite, patchFor } from "../../domain/patch/workload-patch.ts";
import { pinSources, previousPinsAfter, previousPinsOf } from "../../domain/pinning/pin-request.ts";
import { stillRejected } from "../../domain/pinning/rejections.ts";
import { planRollout } from "../../domain/plan/plan.ts";
import { rulesFor } from "../../domain/policy/rules.ts";
import { fieldManager, recordManager } from "../../domain/references/field-managers.ts";
import type { JsonPatch } from "../../domain/syntax/json.ts";
import { isApiFailure, retryAfterMs } from "../../kube/api/api-failure.ts";
import { storeCopies } from "../../pinning/store-copies.ts";
import { errorText } from "../../telemetry/logging/log-messages.ts";
import type { LeaderParts } from "../leader-context.ts";
import { preApply } from "./apply/pre-apply.ts";
import { recreateJob } from "./apply/recreate-job.ts";
import { type WriteResult, writeWorkload } from "./apply/workload-writer.ts";
import { rememberNewest, rememberOwnWrite } from "./freshness/caught-up.ts";
import type { Planned } from "./freshness/live-plan.ts";
import { rememberUncertainWrite, writtenOutcome } from "./freshness/uncertain-write.ts";
import type { ReconcileOutcome } from "./memory/outcome.ts";
import { hasBeenComplete, lastWriteAfter } from "./memory/pacing-memory.ts";
import { hasOtherTemplate, seenPins } from "./memory/workload-memory.ts";
import { rememberProven, rememberRolledAgain } from "./mixed-pods/mixed-pods.ts";
import { mustNotWrite, type ReconcileOptions, type ReconcileRun } from "./plan-workload.ts";
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
  if (pins.type !== "pins") return pins;
  if (mustNotWrite(options)) return { type: "stopped" };
  const unpinned = pins.unpinned === undefined ? [] : [{ reason: "Unpinned", message: pins.unpinned } as const];
  const plan = { ...planned, warnings: [...planned.warnings, ...unpinned] };
  if (pins.pins.pinned !== undefined) findings.writtenPins = pins.pins.pinned;
  const patch = patchFor(workload, plan, clock.wall(), pins.pins) ?? [];
  const hasPassed =
    !["restarts", "exited"].includes(`${options.newPods(workload)?.state}`) &&
    hasBeenComplete(findings, workload, policy.pacing.soakMs, clock.monotonic());
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

/** Applies a plan in the way that creates new Pods for its kind. `patch` is the write to the workload itself. Rejects only for a bug. */
export async function applyPlan(
  workload: Workload,
  plan: RolloutPlan,
  patch: JsonPatch,
  options: LeaderParts<"client" | "policy" | "clock" | "leadership", "lookup">,
): Promise<WriteResult> {
  const { apply } = workload.strategy;
  if (apply === "recreate" && changesTemplate(workload.row, patch)) {
    return recreateJob(workload, patch, options);
  }
  if (apply === "preApply" && plan.outcome === "roll") {
    const acted = await preApply(workload, plan.hash, patch, options);
    return acted.type === "acted" ? writeWorkload(workload, acted.patch, options) : acted;
  }
  const isRecording = plan.outcome === "recorded" && !changesTemplate(workload.row, patch);
  return writeWorkload(workload, patch, options, isRecording ? recordManager : fieldManager);
}

/** Reports whether the caches have what a workload was just written with. */
function matches(after: Workload, lookup: Lookup, { policy }: Pick<ReconcileOptions, "policy">): boolean {
  return planRollout(after, lookup, rulesFor(after, policy)).outcome === "current";
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

/** The pins of a write. `unpinned` is why Pods read live configuration although they should be pinned. */
type PinsForWrite = { readonly type: "pins"; readonly pins: PinsToWrite; readonly unpinned?: string };

/**
 * Stores the copies that the Pods of a plan are to read, before the one patch names them. A crash between the two leaves copies that the
 * next run uses or the collector deletes. `lookup` is the one of the plan. Returns how the run ends if the write must wait.
 */
export async function storePins(
  workload: Workload,
  plan: RolloutPlan,
  lookup: Lookup,
  options: LeaderParts<"client" | "policy" | "leadership", "workload" | "kinds" | "copiesIn">,
): Promise<PinsForWrite | ReconcileOutcome> {
  const { client, caches, policy, leadership } = options;
  const rules = rulesFor(workload, policy);
  const sources =
    plan.outcome === "roll" || plan.outcome === "firstHash"
      ? pinSources(workload, plan.view, lookup, rules)
      : undefined;
  if (sources === undefined || !("hash" in plan)) return { type: "pins", pins: {} };
  const returns = plan.outcome === "roll" ? plan.returns : undefined;
  try {
    const from = returns === undefined ? workload : { ...workload, pinned: returns.pinned };
    const stored = await storeCopies(from, sources, {
      client,
      lookup,
      isAlive: ownerCheck({ client, workload: caches.workload, kinds: caches.kinds() }),
      copiesIn: caches.copiesIn,
      signal: leadership.abort,
      mayBeSent: leadership.valid,
    });
    switch (stored.type) {
      case "stored":
      case "unpinned": {
        const { pinned } = stored;
        const pins =
          returns === undefined
            ? {
                pinned,
                rejected: stillRejected(workload, lookup),
                previous: previousPinsAfter(workload, plan.hash, rules),
              }
            : { pinned, rejected: returns.rejected, previous: previousPinsOf(plan.hash, pinned) };
        return { type: "pins", pins, ...(stored.type === "unpinned" && { unpinned: stored.message }) };
      }
      // The configuration changed after the plan.
      case "stale":
        return { type: "conflict", workload };
    }
  } catch (error) {
    if (leadership.abort.aborted) return { type: "stopped" };
    if (!isApiFailure(error)) throw error;
    return { type: "unavailable", workload, message: errorText(error), retryAfterMs: retryAfterMs(error) };
  }
}
