import { workloadPath } from "../../../cache/workloads/workload-reads.ts";
import {
  type JobObject,
  jobReplacement,
  type RecordedReplacement,
  replacementRecord,
} from "../../../domain/model/job-replacement.ts";
import { oldFinalizer } from "../../../domain/model/scheduling-hold.ts";
import { toWorkload } from "../../../domain/model/workload.ts";
import type { WorkloadObject } from "../../../domain/model/workload-references.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import type { JsonPatch } from "../../../domain/syntax/json.ts";
import {
  apiFailureOf,
  errorTextWithoutValues,
  isAlreadyExists,
  isConflict,
  isNotFound,
} from "../../../kube/api/api-failure.ts";
import type { KubeObject } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { type Clock, sleep } from "../../../lib/clock.ts";
import { errorText } from "../../../telemetry/logging/log-messages.ts";
import { createReplacement, deleteRecord, type ReplacementResult } from "../../job-replacements/replace.ts";
import type { LeaderParts } from "../../leader-context.ts";
import { refusedTexts } from "../report/event-texts.ts";
import { passesTests, type WriteResult, writeFailure } from "./workload-writer.ts";

type Job = KubeObject & WorkloadObject & JobObject;

/** How many times a deleted Job is created again, one second apart. Then the next sweep creates it. */
const tries = 30;

/**
 * Applies a patch that a Job does not accept: deletes the Job and creates it again with the same name. A dry run first checks
 * that the API server would create the Job, and a record stores the Job before the deletion. If the process ends or the API
 * server rejects the Job in between, a leader creates the Job from the record.
 */
export async function recreateJob(
  before: Workload,
  patch: JsonPatch,
  { client, policy, clock, leadership }: LeaderParts<"client" | "policy" | "clock" | "leadership">,
): Promise<WriteResult> {
  const { abort: signal, valid: mayBeSent } = leadership;
  const path = workloadPath(before);
  const create = { method: "POST", path: path.slice(0, path.lastIndexOf("/")) } as const;
  let replacement: RecordedReplacement;
  try {
    const object = await client.request<Job>({ method: "GET", path, signal });
    if (!passesTests(patch, object)) return { type: "stale", newest: toWorkload(before.row, object, policy) };
    const { name, uid, resourceVersion, finalizers = [] } = object.metadata;
    // With --owner-references, Wave removes its own finalizer when the Job is deleted.
    const isRemoved = (finalizer: string) => policy.ownership !== undefined && finalizer === oldFinalizer;
    if (!finalizers.every(isRemoved)) return refused(refusedTexts.jobWithFinalizers);
    replacement = { name, replaces: uid, manifest: jobReplacement(object, patch) };
    try {
      await client.request({ ...create, query: { dryRun: "All" }, body: replacement.manifest, signal, mayBeSent });
    } catch (error) {
      // The Job exists at this moment, so this error is expected.
      if (!isAlreadyExists(error)) throw error;
    }
    const record = { ...create, body: replacementRecord(replacement.manifest, uid), signal, mayBeSent };
    try {
      await client.request(record);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      // An earlier run stored the record for an older change.
      await deleteRecord(client, before.namespace, replacement);
      await client.request(record);
    }
    const options = { propagationPolicy: "Background", preconditions: { uid, resourceVersion } };
    const deletion = { method: "DELETE", path, body: options, signal, mayBeSent } as const;
    try {
      await client.request(deletion);
    } catch (error) {
      // If the API server did not answer, the Job may be deleted. A sweep reads whether it is.
      const failure = apiFailureOf(error);
      if (failure?.type !== "unavailable" || !failure.mayBeDone)
        await deleteRecord(client, before.namespace, replacement);
      throw error;
    }
  } catch (error) {
    if (signal.aborted) return { type: "stopped" };
    if (isConflict(error)) return { type: "stale", newest: before };
    if (isNotFound(error)) return { type: "gone" };
    const failure = writeFailure(error, before);
    return failure.type === "stale" ? refused(failure.refusal ?? errorText(error)) : failure;
  }
  const result = await createWithRetries(client, before.namespace, replacement, clock);
  if (result.type === "refused") return result;
  // A record that is left is deleted by the next sweep.
  await deleteRecord(client, before.namespace, replacement).catch(() => {});
  if (result.type !== "created") return { type: "gone" };
  return { type: "written", after: toWorkload(before.row, result.job as Job, policy) };
}

/** Creates a deleted Job again, also if the leadership is lost: nothing else would until the next leader starts. */
async function createWithRetries(
  client: Pick<ApiClient, "request">,
  namespace: string,
  replacement: RecordedReplacement,
  clock: Clock,
): Promise<ReplacementResult | Extract<WriteResult, { readonly type: "refused" }>> {
  for (let attempt = 1; ; attempt++) {
    try {
      const result = await createReplacement(client, namespace, replacement);
      if (result.type !== "kept") return result;
    } catch (error) {
      if (attempt === tries) return refused(refusedTexts.jobNotRecreated(errorTextWithoutValues(error)));
    }
    if (attempt === tries) return { type: "exists" };
    await sleep(clock, 1_000);
  }
}

function refused(message: string): Extract<WriteResult, { readonly type: "refused" }> {
  return { type: "refused", message };
}
