import type { Caches } from "../../../cache/caches.ts";
import { annotationFor, openSpanOf, recordedSpans } from "../../../domain/pods/spans.ts";
import { type ClusterPolicy, policyFor } from "../../../domain/policy/policy.ts";
import { rolloutPolicyOf } from "../../../domain/policy/rollout-policy.ts";
import { configDiffered } from "../../../domain/references/annotations.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { type Clock, sleep } from "../../../lib/clock.ts";
import type { Leadership } from "../../../runtime/write-permits.ts";
import { errorText } from "../../../telemetry/logging/error-text.ts";
import type { Logger } from "../../../telemetry/logging/log.ts";
import { logMessages } from "../../../telemetry/logging/log-messages.ts";
import { annotationsPatch, writeNote } from "../apply/write-note.ts";
import type { WorkloadMemory } from "../memory/workload-memory.ts";

/** What {@link writeLastNotes} needs. */
export interface LastNotesOptions {
  readonly client: Pick<ApiClient, "request">;
  readonly clock: Clock;
  readonly leadership: Leadership;
  readonly caches: Pick<Caches, "workload">;
  readonly policy: ClusterPolicy;
  readonly log: Logger;
}

/** Limits of the last notes: the next leader starts only after them. */
const maxNotes = 100;
const maxMs = 1_000;

/**
 * Notes the spans that are open when the leadership ends in good order, however short they are: the next leader may not see an edit that is
 * reverted before it starts. Resolves after one second at the latest. Never rejects for a request.
 */
export async function writeLastNotes(
  memories: Iterable<readonly [string, Pick<WorkloadMemory, "mixed">]>,
  options: LastNotesOptions,
): Promise<void> {
  const { caches, clock, leadership, log, policy } = options;
  const now = clock.wall();
  const due = Iterator.from(memories).flatMap(([key, { mixed: { spans } = {} }]) => {
    if (spans === undefined || openSpanOf(recordedSpans(spans)) === undefined) return [];
    const workload = caches.workload(key);
    if (workload?.uid !== spans.uid) return [];
    if (rolloutPolicyOf(workload, policyFor(workload, policy)).mode.value === "observe") return [];
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
