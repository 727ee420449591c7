import { withBorrowedTemplate, workloadPath } from "../../../cache/workloads/workload-reads.ts";
import { resourceName } from "../../../domain/model/kind-row.ts";
import { toWorkload } from "../../../domain/model/workload.ts";
import type { WorkloadObject } from "../../../domain/model/workload-references.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import { fieldManager, type recordManager } from "../../../domain/references/field-managers.ts";
import { equalJson, type JsonPatch, valueAtPointer } from "../../../domain/syntax/json.ts";
import {
  type ApiError,
  apiFailureOf,
  isApiFailure,
  refusedFields,
  retryAfterMs,
} from "../../../kube/api/api-failure.ts";
import type { KubeObject } from "../../../kube/api/resources.ts";
import { errorText } from "../../../telemetry/logging/log-messages.ts";
import type { LeaderParts } from "../../leader-context.ts";
import { refusedTexts } from "../report/event-texts.ts";

/** What a write needs. */
export type WriteOptions = LeaderParts<"client" | "policy" | "leadership">;

/** The result of a write. */
export type WriteResult =
  | { readonly type: "written"; readonly after: Workload }
  /** The workload differs from the one that the patch was made for. */
  | { readonly type: "stale"; readonly newest: Workload }
  /** The leadership was lost. */
  | { readonly type: "stopped" }
  | Exclude<WriteFailure, { readonly type: "stale" }>;

/**
 * Patches a workload that was read as `before`. If it changed meanwhile, it is read again, which distinguishes a failed
 * `test` of the patch from a refusal. Not sent when the leadership is over. Rejects only for a bug.
 */
export async function writeWorkload(
  before: Workload,
  patch: JsonPatch,
  options: WriteOptions,
  manager: typeof fieldManager | typeof recordManager = fieldManager,
): Promise<WriteResult> {
  const { client, policy, leadership } = options;
  const { abort: signal, valid: mayBeSent } = leadership;
  const path = workloadPath(before);
  let answer: KubeObject & WorkloadObject;
  try {
    answer = await client.request<KubeObject & WorkloadObject>({
      method: "PATCH",
      path,
      query: { fieldManager: manager },
      contentType: "application/json-patch+json",
      body: patch,
      signal,
      mayBeSent,
    });
  } catch (error) {
    if (signal.aborted) return { type: "stopped" };
    const failure = writeFailure(error, before);
    return failure.type === "stale" ? readAgain(before, patch, failure.refusal, options) : failure;
  }
  try {
    const object = await withBorrowedTemplate(client, before.row, answer, { signal });
    return { type: "written", after: toWorkload(before.row, object, policy) };
  } catch (error) {
    if (signal.aborted) return { type: "stopped" };
    if (!isApiFailure(error)) throw error;
    return { type: "unavailable", message: errorText(error), retryAfterMs: retryAfterMs(error), uncertain: true };
  }
}

/** Reads the workload after a failed write. `refusal` is the cause if all `test`s of the patch pass on the read workload. */
async function readAgain(
  before: Workload,
  patch: JsonPatch,
  refusal: string | undefined,
  { client, policy, leadership: { abort: signal } }: WriteOptions,
): Promise<WriteResult> {
  try {
    const path = workloadPath(before);
    const read = await client.request<KubeObject & WorkloadObject>({ method: "GET", path, signal });
    const object = await withBorrowedTemplate(client, before.row, read, { signal });
    const newest = toWorkload(before.row, object, policy);
    if (refusal === undefined || !passesTests(patch, object)) return { type: "stale", newest };
    return { type: "refused", message: refusal };
  } catch (error) {
    if (signal.aborted) return { type: "stopped" };
    const failure = writeFailure(error, before);
    switch (failure.type) {
      case "gone":
        return failure;
      case "unavailable":
        return { ...failure, uncertain: false };
      case "refused":
        return { type: "refused", message: refusal ?? failure.message };
      default:
        // Without an answer to the read, the cause of the failed write is unknown.
        return { type: "refused", message: refusal ?? errorText(error) };
    }
  }
}

/**
 * Reports whether every `test` of a patch passes on `object`: then the failure was no failed test. As on the API server, an
 * absent field passes a test for null, and a field of an absent object passes no test.
 */
export function passesTests(patch: JsonPatch, object: unknown): boolean {
  return patch.every((operation) => {
    if (operation.op !== "test") return true;
    const { path, value } = operation;
    const around = valueAtPointer(object, path.slice(0, path.lastIndexOf("/")));
    return typeof around === "object" && around !== null && equalJson(valueAtPointer(object, path) ?? null, value);
  });
}

/** Why a PATCH of a workload failed, by how to continue. */
export type WriteFailure =
  /** The workload does not exist any more. */
  | { readonly type: "gone" }
  /**
   * The workload may be newer than the plan. With a `refusal` (422 Invalid), a `test` of the patch failed or the patched workload was refused:
   * reading the workload again shows which. Without one, the object kept changing during the request, perhaps only in its status, and the API
   * server gave up
   * (https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiserver/pkg/endpoints/handlers/patch.go,
   * MaxRetryWhenPatchConflicts).
   */
  | { readonly type: "stale"; readonly refusal: string | undefined }
  /** The write is refused. `message` is for the owner of the workload. */
  | { readonly type: "refused"; readonly message: string }
  /** The API server gave no answer, which says nothing about the workload. If `uncertain`, the write may have arrived. */
  | {
      readonly type: "unavailable";
      readonly message: string;
      /** The Retry-After in milliseconds, at most five minutes. */
      readonly retryAfterMs: number;
      readonly uncertain: boolean;
    };

/** Returns what a failed write of `workload` means. Throws `error` itself if it is no failed request: that is a bug. */
export function writeFailure(error: unknown, workload: Workload): WriteFailure {
  const failure = apiFailureOf(error);
  switch (failure?.type) {
    case undefined:
      throw error;
    case "notFound":
      return { type: "gone" };
    case "conflict":
    case "alreadyExists":
      return { type: "stale", refusal: undefined };
    case "invalid":
      return { type: "stale", refusal: refusal(failure.error, workload) };
    case "badRequest":
    case "forbidden":
    case "deniedByAdmission":
      return { type: "refused", message: refusal(failure.error, workload) };
    case "unauthorized":
    case "expired":
    case "misconfigured":
    case "tooManyRequests":
    case "unavailable": {
      const uncertain = failure.type === "unavailable" && failure.mayBeDone;
      return { type: "unavailable", message: failure.error.message, retryAfterMs: retryAfterMs(error), uncertain };
    }
  }
}

function refusal(error: ApiError, { row, namespace }: Workload): string {
  const { status, serverMessage, reason } = error;
  if (status === 403 && /\bcannot patch resource\b/.test(serverMessage)) {
    return refusedTexts.forbiddenToWrite(resourceName(row), namespace);
  }
  const message = (serverMessage || reason || String(status)).replace(/\s+/g, " ").trim();
  return refusedTexts.refusedWrite(refusedFields(error) ?? message);
}
