import { workloadPath } from "../../../cache/workloads/workload-reads.ts";
import type { Workload } from "../../../domain/model/workload.ts";
import type { JsonPatch } from "../../../domain/patch/workload-patch.ts";
import { annotationManager } from "../../../domain/references/field-managers.ts";
import { apiFailureOf } from "../../../kube/api/api-failure.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import type { Leadership } from "../../../runtime/write-permits.ts";

/** A JSON Patch, or a merge patch. */
export type NotePatch = JsonPatch | { readonly metadata: object };

/** Returns the patch that sets or removes an annotation. An object of the same name with another uid is not changed. */
export function annotationsPatch({ uid }: Workload, name: string, text: string | undefined): NotePatch {
  return { metadata: { uid, annotations: { [name]: text ?? null } } };
}

/**
 * Writes a note into annotations of a workload, beside rollouts. Writes nothing if the workload is gone or is another one. Rejects with the
 * other errors of the request.
 */
export async function writeNote(
  workload: Workload,
  body: NotePatch,
  { client, leadership }: { readonly client: Pick<ApiClient, "request">; readonly leadership: Leadership },
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
