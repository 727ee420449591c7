// Notes on a workload, in annotations, beside rollouts: that its rollout has been held or halted for a while, so that GitOps tools can show
// it, that its rollout has passed, and when its configuration differed, both for the next leader. And that Wave gives up a scheduler that it restored.
import { type Workload, workloadKey } from "../../domain/model/workload.ts";
import { holdRows } from "../../domain/pacing/holds.ts";
import { previousPinsPatch } from "../../domain/patch/workload-patch.ts";
import type { RolloutPlan } from "../../domain/plan/plan.ts";
import { type ClusterPolicy, policyFor } from "../../domain/policy/cluster-policy.ts";
import { rolloutPolicyOf } from "../../domain/policy/rollout-policy.ts";
import {
  configDiffered,
  previousPins,
  schedulingDisabled,
  stateAnnotation,
} from "../../domain/references/annotations.ts";
import { apiFailureOf, retryAfterMs } from "../../kube/api/api-failure.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Leadership } from "../../runtime/leadership.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import { logMessages } from "../../telemetry/logging/log-messages.ts";
import { annotationsPatch, type NotePatch, writeNote } from "./apply/write-note.ts";
import { checkBy } from "./record/requeue.ts";
import type { Findings, StateNote, Writable } from "./record/workload-record.ts";

/** What {@link noteState} needs. */
export interface NoteStateOptions {
  readonly client: Pick<ApiClient, "request">;
  readonly policy: ClusterPolicy;
  readonly clock: Clock;
  readonly log: Logger;
  readonly leadership: Leadership;
  /** Takes a permit for one note. If there is none, the workload is reconciled again when it has one. */
  readonly takePermit: () => boolean;
}

/** A shorter hold is not noted, in milliseconds: each note is a write. */
const noteAfterMs = 30_000;
/** Minimum time between two equal notes, or two notes of the state: the cache may be behind, or another client changes the annotation. */
const againMs = 30_000;
const againAfterFailureMs = 60_000;

/**
 * Writes what is to be noted of a plan that needs no other write, or stores in `findings` when to check again. `differed`: the annotation of the
 * spans; undefined: unknown. Rejects only for a bug.
 */
export async function noteState(
  workload: Workload,
  plan: RolloutPlan,
  differed: { readonly text: string | undefined } | undefined,
  findings: Writable<Pick<Findings, "note" | "checkAt">>,
  options: NoteStateOptions,
): Promise<void> {
  const { client, policy, clock, log, leadership, takePermit } = options;
  if (workload.deleting || rolloutPolicyOf(workload, policyFor(workload, policy)).mode.value === "observe") return;
  const now = clock.monotonic();
  const { state, since, notBefore } = noteOf(workload, plan, findings.note, now);
  const due: { readonly id: string; readonly at: number; readonly patch: NotePatch }[] = [];
  if ("previousPins" in plan)
    due.push({ id: previousPins, at: now, patch: previousPinsPatch(workload, plan.previousPins) });
  if (workload.disowning !== undefined) due.push({ id: schedulingDisabled, at: now, patch: workload.disowning });
  if (workload.state !== state) {
    const at = state === undefined ? now : since + noteAfterMs;
    due.push({ id: stateAnnotation, at, patch: annotationsPatch(workload, stateAnnotation, state) });
  }
  if (differed !== undefined && workload.differed !== differed.text)
    due.push({
      // Another text is written at once: the next leader must know the end of a difference.
      id: `${configDiffered} ${differed.text}`,
      at: now,
      patch: annotationsPatch(workload, configDiffered, differed.text),
    });
  const isNoted = state !== undefined || Object.values(notBefore).some((time) => time > now);
  findings.note = isNoted ? { uid: workload.uid, state, since, notBefore } : undefined;
  for (const { id, at, patch } of due) {
    const dueAt = Math.max(at, notBefore[id] ?? at);
    if (dueAt > now) {
      checkBy(findings, dueAt);
      continue;
    }
    if (leadership.abort.aborted || !leadership.valid() || !takePermit()) return;
    let delayMs = againMs;
    try {
      await writeNote(workload, patch, { client, leadership });
    } catch (error) {
      if (leadership.abort.aborted) return;
      if (apiFailureOf(error) === undefined) throw error;
      log.warn(logMessages.stateNotWritten, { workload: workloadKey(workload), error: errorText(error) });
      delayMs = Math.max(againAfterFailureMs, retryAfterMs(error));
    }
    const next = clock.monotonic() + delayMs;
    const known = Object.entries(findings.note?.notBefore ?? {}).filter(([, time]) => time > now);
    const times = Object.fromEntries([...known, [id, next]]);
    findings.note = { uid: workload.uid, state, since, notBefore: times };
    checkBy(findings, next);
  }
}

function noteOf({ uid }: Workload, plan: RolloutPlan, before: StateNote | undefined, now: number): StateNote {
  const state = heldStateOf(plan);
  const known = before?.uid === uid ? before : undefined;
  if (known !== undefined && known.state === state) return known;
  return { uid, state, since: now, notBefore: known?.notBefore ?? {} };
}

/** Returns the state of a workload; undefined if no rollout is held, or if the hold is not noted. */
function heldStateOf(plan: RolloutPlan): StateNote["state"] {
  if (plan.outcome !== "held" || plan.due.outcome !== "roll") return undefined;
  const { reason } = plan.hold;
  if (reason === "halted") return "halted";
  return holdRows[reason].isInState ? "held" : undefined;
}
