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
import { passesTests, type WriteResult } from "./workload-writer.ts";
import { writeFailure } from "./write-failure.ts";

type Job = KubeObject & WorkloadObject & JobObject;

/** How often the server is asked to make a Job again that is deleted, a second apart. */
const tries = 30;

/**
 * Carries out a patch that a Job refuses, by deleting it and making it again with the same name. Nothing is deleted that the API
 * server would not make: it is asked first, by a dry run. What is deleted is made again whatever becomes of the term; only
 * a process that is killed between these two requests leaves nothing.
 */
export async function recreateJob(
  client: Pick<ApiClient, "request">,
  before: Workload,
  patch: JsonPatch,
  { abort: signal, valid: mayBeSent }: Pick<Leadership, "abort" | "valid">,
  clock: Clock,
  asking: DirectiveContext,
): Promise<WriteResult> {
  const path = workloadPath(before);
  const create = { method: "POST", path: path.slice(0, path.lastIndexOf("/")) } as const;
  let body: object;
  try {
    const object = await client.request<Job>({ method: "GET", path, signal });
    if (!passesTests(patch, object)) return { type: "stale", newest: toWorkload(before.row, object, asking) };
    const { uid, resourceVersion, finalizers = [] } = object.metadata;
    if (finalizers.length > 0) return refused("it has finalizers, so that another one cannot take its place");
    body = jobReplacement(object, patch);
    try {
      await client.request({ ...create, query: { dryRun: "All" }, body, signal, mayBeSent });
    } catch (error) {
      // That there is one already is asked last.
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
      return { type: "written", after: toWorkload(before.row, after, asking) };
    } catch (error) {
      // Somebody else, or a request of which no answer came.
      if (isAlreadyExists(error)) return { type: "gone" };
      if (attempt === tries) return refused(`it was deleted, and cannot be made again: ${errorText(error)}`);
      await sleep(clock, 1_000);
    }
  }
}

function refused(message: string): WriteResult {
  return { type: "refused", message };
}
