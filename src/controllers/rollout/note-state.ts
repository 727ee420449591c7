// Notes on a workload, in annotations, beside rollouts: the verdict on a state that lasts, for readers without permissions and for GitOps tools,
// that its rollout has passed or failed by an alert, and when its configuration differed, all for the next leader. And that Wave gives up a scheduler
// that it restored.

import { workloadPath } from "../../cache/workloads/workload-reads.ts";
import { type Workload, workloadKey } from "../../domain/model/workload-shape.ts";
import type { RolloutPlan } from "../../domain/outcomes/outcomes.ts";
import { storedFailedAlert } from "../../domain/pacing/rollout-result.ts";
import { previousPinsPatch } from "../../domain/patch/workload-patch.ts";
import { parseVerdict, type Verdict, verdictId, writeVerdict } from "../../domain/plan/verdict.ts";
import { annotationFor, openSpanOf, recordedSpans } from "../../domain/pods/spans.ts";
import { rulesFor } from "../../domain/policy/rules.ts";
import {
  configDiffered,
  failedAlertAnnotation,
  previousPins,
  schedulingDisabled,
  stateAnnotation,
} from "../../domain/references/annotations.ts";
import { annotationManager } from "../../domain/references/field-managers.ts";
import type { JsonPatch } from "../../domain/syntax/json.ts";
import { apiFailureOf, retryAfterMs } from "../../kube/api/api-failure.ts";
import { sleep } from "../../lib/clock.ts";
import { errorText, logMessages } from "../../telemetry/logging/log-messages.ts";
import type { LeaderParts } from "../leader-context.ts";
import { checkBy } from "./memory/finish.ts";
import { knownFailedAlert } from "./memory/pacing-memory.ts";
import type { Findings, WorkloadMemory, Writable } from "./memory/workload-memory.ts";

/** A shorter state is not noted, in milliseconds: each note is a write. */
const noteAfterMs = 30_000;
/** Minimum time between two equal notes, or two notes of the state: the cache may be behind, or another client changes the annotation. */
const againMs = 30_000;
const againAfterFailureMs = 60_000;

/**
 * Writes what is to be noted of a plan that needs no other write, or stores in `findings` when to check again. `differed`: the annotation of the
 * spans; undefined: unknown. `verdict`: undefined if the workload is current. A note takes a permit; without one, the workload is reconciled again when it has
 * one. Rejects only for a bug.
 */
export async function noteState(
  workload: Workload,
  plan: RolloutPlan,
  verdict: Verdict | undefined,
  differed: { readonly text: string | undefined } | undefined,
  findings: Writable<Pick<Findings, "note" | "checkAtMonotonic" | "failedAlert">>,
  options: LeaderParts<"client" | "policy" | "clock" | "log" | "leadership"> & { readonly takePermit: () => boolean },
): Promise<void> {
  const { client, policy, clock, log, leadership, takePermit } = options;
  if (workload.deleting || rulesFor(workload, policy).mode.value === "observe") return;
  const now = clock.monotonic();
  const state = verdict && verdictId(verdict);
  const known = findings.note?.uid === workload.uid ? findings.note : undefined;
  const since = known !== undefined && known.state === state ? known.since : now;
  const notBefore = known?.notBefore ?? {};
  const due: { readonly id: string; readonly at: number; readonly patch: NotePatch }[] = [];
  const add = (id: string, patch: NotePatch, at = now) => due.push({ id, at, patch });
  if ("previousPins" in plan) add(previousPins, previousPinsPatch(workload, plan.previousPins));
  if (workload.disowning !== undefined) add(schedulingDisabled, workload.disowning);
  if (!isPublished(workload, verdict)) {
    const at = verdict === undefined ? now : since + noteAfterMs;
    const text = verdict && writeVerdict({ ...verdict, since: clock.wall() - (now - since) });
    add(stateAnnotation, annotationsPatch(workload, stateAnnotation, text), at);
  }
  // At once: the next leader must know it, although the alert is resolved by then.
  const failedAlert = knownFailedAlert(findings, workload);
  if (failedAlert !== undefined && failedAlert !== storedFailedAlert(workload))
    add(failedAlertAnnotation, annotationsPatch(workload, failedAlertAnnotation, findings.failedAlert?.text));
  // Another text is written at once: the next leader must know the end of a difference.
  if (differed !== undefined && workload.differed !== differed.text)
    add(`${configDiffered} ${differed.text}`, annotationsPatch(workload, configDiffered, differed.text));
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
    const others = Object.entries(findings.note?.notBefore ?? {}).filter(([, time]) => time > now);
    const times = Object.fromEntries([...others, [id, next]]);
    findings.note = { uid: workload.uid, state, since, notBefore: times };
    checkBy(findings, next);
  }
}

/** Reports whether the annotation of a workload shows the verdict on it. */
export function isPublished({ state }: Pick<Workload, "state">, verdict: Verdict | undefined): boolean {
  if (verdict === undefined) return state === undefined;
  const published = parseVerdict(state);
  return published !== undefined && verdictId(published) === verdictId(verdict);
}

type NotePatch = JsonPatch | { readonly metadata: object };

/** Returns the patch that sets or removes an annotation. An object of the same name with another uid is not changed. */
function annotationsPatch({ uid }: Workload, name: string, text: string | undefined): NotePatch {
  return { metadata: { uid, annotations: { [name]: text ?? null } } };
}

/**
 * Writes a note into annotations of a workload, beside rollouts. Writes nothing if the workload is gone or is another one. Rejects with the
 * other errors of the request.
 */
async function writeNote(
  workload: Workload,
  body: NotePatch,
  { client, leadership }: LeaderParts<"client" | "leadership">,
): Promise<void> {
  try {
    await client.request({
      method: "PATCH",
      path: workloadPath(workload),
      query: { fieldManager: annotationManager },
      contentType: Array.isArray(body) ? "application/json-patch+json" : "application/merge-patch+json",
      body,
      signal: leadership.abort,
      mayBeSent: leadership.valid,
    });
  } catch (error) {
    const type = apiFailureOf(error)?.type;
    if (type !== "notFound" && type !== "conflict" && type !== "invalid") throw error;
  }
}

/** Limits of the last notes: the next leader starts only after them. */
const maxNotes = 100;
const maxMs = 1_000;

/**
 * Notes the spans that are open when the leadership ends in good order, however short they are: the next leader may not see an edit that is
 * reverted before it starts. Resolves after one second at the latest. Never rejects for a request.
 */
export async function writeLastNotes(
  memories: Iterable<readonly [string, Pick<WorkloadMemory, "findings">]>,
  options: LeaderParts<"client" | "policy" | "clock" | "log" | "leadership", "workload">,
): Promise<void> {
  const { caches, clock, leadership, log, policy } = options;
  const now = clock.wall();
  const due = Iterator.from(memories).flatMap(([key, { findings }]) => {
    const { spans } = findings.mixed ?? {};
    if (spans === undefined || openSpanOf(recordedSpans(spans)) === undefined) return [];
    const workload = caches.workload(key);
    if (workload?.uid !== spans.uid) return [];
    if (rulesFor(workload, policy).mode.value === "observe") return [];
    const text = annotationFor(spans, workload.differed, true, now);
    return text === workload.differed ? [] : [{ key, workload, text }];
  });
  const first = [...due.take(maxNotes)];
  if (first.length === 0 || leadership.abort.aborted || !leadership.valid()) return;
  const written = first.map(async ({ key, workload, text }) => {
    try {
      await writeNote(workload, annotationsPatch(workload, configDiffered, text), options);
    } catch (error) {
      log.warn(logMessages.mixedPodsKept, { workload: key, error: errorText(error) });
    }
  });
  const end = new AbortController();
  const signal = AbortSignal.any([end.signal, leadership.abort]);
  await Promise.race([Promise.all(written), sleep(clock, maxMs, signal).catch(() => {})]);
  end.abort();
}
