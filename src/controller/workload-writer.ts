import type { KubeObject } from "../kube/api-types.ts";
import type { ApiClient } from "../kube/client.ts";
import { isNotFound } from "../kube/errors.ts";
import type { JsonPatch } from "../rollout/patch.ts";
import { toWorkload, type Workload, type WorkloadObject } from "../rollout/workload.ts";
import { workloadPath } from "./workload-resource.ts";
import { type WriteFailure, writeFailure } from "./write-failure.ts";

/** Who owns the fields that Wave writes (https://kubernetes.io/docs/reference/using-api/server-side-apply/#managers). */
export const fieldManager = "wave";

/** What came of an attempt to write. */
export type WriteResult =
  | { readonly type: "written"; readonly after: Workload }
  /** The workload differs from what the patch was made for. */
  | { readonly type: "stale"; readonly newest: Workload }
  | Exclude<WriteFailure, { readonly type: "staleOrRefused" }>;

/**
 * Patches a workload, which was read as `before`. A failed `test` of the patch is told from a refusal by reading the
 * workload again. Rejects with the signal's reason where that is aborted, and with what is a bug.
 */
export async function writeWorkload(
  client: Pick<ApiClient, "request">,
  before: Workload,
  patch: JsonPatch,
  signal: AbortSignal,
): Promise<WriteResult> {
  const path = workloadPath(before);
  try {
    const answer = await client.request<KubeObject & WorkloadObject>({
      method: "PATCH",
      path,
      query: { fieldManager },
      contentType: "application/json-patch+json",
      body: patch,
      signal,
    });
    return { type: "written", after: toWorkload(before.kind, answer) };
  } catch (error) {
    signal.throwIfAborted();
    const failure = writeFailure(error, before);
    if (failure.type !== "staleOrRefused") return failure;
    return readAgain(client, before, failure.message, signal);
  }
}

async function readAgain(
  client: Pick<ApiClient, "request">,
  before: Workload,
  message: string,
  signal: AbortSignal,
): Promise<WriteResult> {
  try {
    const path = workloadPath(before);
    const object = await client.request<KubeObject & WorkloadObject>({ method: "GET", path, signal });
    const newest = toWorkload(before.kind, object);
    return isTested(before, newest) ? { type: "refused", message } : { type: "stale", newest };
  } catch (error) {
    signal.throwIfAborted();
    if (isNotFound(error)) return { type: "gone" };
    const failure = writeFailure(error, before);
    // It cannot be told which of the two it was: tried again later, it will be one or the other again.
    if (failure.type !== "unavailable") return { type: "refused", message };
    return { ...failure, uncertain: false };
  }
}

/** Whether every `test` of a patch for `before` passes on `newest`: then it was not a test that failed. */
function isTested(before: Workload, newest: Workload): boolean {
  return (
    before.uid === newest.uid &&
    before.generation === newest.generation &&
    before.optIn.state === newest.optIn.state &&
    before.disabledScheduler === newest.disabledScheduler
  );
}
