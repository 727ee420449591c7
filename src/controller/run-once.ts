import { workloadPath } from "../cache/workload-resource.ts";
import type { KubeObject } from "../kube/api-types.ts";
import type { ApiClient } from "../kube/client.ts";
import { isAlreadyExists } from "../kube/errors.ts";
import type { Asking } from "../rollout/dialects/asked.ts";
import { type CronJobObject, manualRun } from "../rollout/manual-run.ts";
import type { JsonPatch } from "../rollout/patch.ts";
import { toWorkload, type Workload, type WorkloadObject } from "../rollout/workload.ts";
import type { Leadership } from "./leadership.ts";
import { passesTests, type WriteResult } from "./workload-writer.ts";
import { writeFailure } from "./write-failure.ts";

/**
 * Runs a CronJob once with a new hash, which `patch` is then to record; undefined where that was done, else why not. A run comes
 * before its hash is recorded: whoever crashes in between finds it still due, and that it was made.
 */
export async function runOnce(
  client: Pick<ApiClient, "request">,
  workload: Workload,
  recorded: string,
  patch: JsonPatch,
  { abort: signal, valid: mayBeSent }: Pick<Leadership, "abort" | "valid">,
  asking: Asking,
): Promise<Exclude<WriteResult, { readonly type: "written" }> | undefined> {
  try {
    const path = workloadPath(workload);
    const object = await client.request<KubeObject & WorkloadObject & CronJobObject>({ method: "GET", path, signal });
    if (!passesTests(patch, object)) return { type: "stale", newest: toWorkload(workload.row, object, asking) };
    const body = manualRun(object, workload, recorded);
    const jobs = `/apis/batch/v1/namespaces/${workload.namespace}/jobs`;
    if (body !== undefined) await client.request({ method: "POST", path: jobs, body, signal, mayBeSent });
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (isAlreadyExists(error)) return undefined;
    const failure = writeFailure(error, workload);
    switch (failure.type) {
      case "unavailable":
        return { ...failure, uncertain: false };
      case "stale":
        return {
          type: "unavailable",
          message: "the API server could not make a Job",
          retryAfterMs: 0,
          uncertain: false,
        };
      case "staleOrRefused":
        return { type: "refused", message: failure.message };
      default:
        return failure;
    }
  }
}
