import { workloadPath } from "../../../cache/workloads/workload-resource.ts";
import type { DirectiveContext } from "../../../domain/compatibility/directives.ts";
import { type JobObject, jobReplacement } from "../../../domain/model/job-replacement.ts";
import { toWorkload, type Workload, type WorkloadObject } from "../../../domain/model/workload.ts";
import type { JsonPatch } from "../../../domain/patch/workload-patch.ts";
import type { KubeObject } from "../../../kube/api/api-types.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../../../kube/api/errors.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { type Clock, sleep } from "../../../lib/clock.ts";
import type { Leadership } from "../../../runtime/leadership.ts";
import { errorText } from "../../../telemetry/logging/error-text.ts";
import { refusedTexts } from "../report/event-texts.ts";
import { passesTests, type WriteResult } from "./workload-writer.ts";
import { writeFailure } from "./write-failure.ts";

type Job = KubeObject & WorkloadObject & JobObject;

/** How many times a deleted Job is created again, one second apart. */
const tries = 30;

/**
 * Applies a patch that a Job does not accept: deletes the Job and creates it again with the same name. A dry run first
 * checks that the API server would create the Job. A deleted Job is created again even if the leadership is lost; only a
 * process that is killed between these two requests leaves no Job.
 */
export async function recreateJob(
  client: Pick<ApiClient, "request">,
  before: Workload,
  patch: JsonPatch,
  { abort: signal, valid: mayBeSent }: Pick<Leadership, "abort" | "valid">,
  clock: Clock,
  directiveContext: DirectiveContext,
): Promise<WriteResult> {
  const path = workloadPath(before);
  const create = { method: "POST", path: path.slice(0, path.lastIndexOf("/")) } as const;
  let body: object;
  try {
    const object = await client.request<Job>({ method: "GET", path, signal });
    if (!passesTests(patch, object)) return { type: "stale", newest: toWorkload(before.row, object, directiveContext) };
    const { uid, resourceVersion, finalizers = [] } = object.metadata;
    if (finalizers.length > 0) return refused(refusedTexts.jobWithFinalizers);
    body = jobReplacement(object, patch);
    try {
      await client.request({ ...create, query: { dryRun: "All" }, body, signal, mayBeSent });
    } catch (error) {
      // The Job exists at this moment, so this error is expected.
      if (!isAlreadyExists(error)) throw error;
    }
    const options = { propagationPolicy: "Background", preconditions: { uid, resourceVersion } };
    await client.request({ method: "DELETE", path, body: options, signal, mayBeSent });
  } catch (error) {
    signal.throwIfAborted();
    if (isConflict(error)) return { type: "stale", newest: before };
    if (isNotFound(error)) return { type: "gone" };
    const failure = writeFailure(error, before);
    return failure.type === "stale" || failure.type === "staleOrRefused" ? refused(errorText(error)) : failure;
  }
  for (let attempt = 1; ; attempt++) {
    try {
      const after = await client.request<Job>({ ...create, body });
      return { type: "written", after: toWorkload(before.row, after, directiveContext) };
    } catch (error) {
      // Another client created the Job, or an earlier request whose response was lost.
      if (isAlreadyExists(error)) return { type: "gone" };
      if (attempt === tries) return refused(refusedTexts.jobNotRecreated(errorText(error)));
      await sleep(clock, 1_000);
    }
  }
}

function refused(message: string): WriteResult {
  return { type: "refused", message };
}
