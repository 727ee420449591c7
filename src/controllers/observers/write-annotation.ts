import { workloadPath } from "../../cache/workloads/workload-resource.ts";
import type { Workload } from "../../domain/model/workload.ts";
import type { JsonPatch } from "../../domain/patch/workload-patch.ts";
import { annotationManager } from "../../domain/references/field-managers.ts";
import { apiFailureOf } from "../../kube/api/api-failure.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { Leadership } from "../../runtime/leadership.ts";

/** What writes of annotations need. */
interface WriteAnnotationOptions {
  readonly client: Pick<ApiClient, "request">;
  readonly leadership: Leadership;
}

/** Writes or removes an annotation of a workload, beside rollouts. An object of the same name with another uid is not changed. */
export function writeAnnotation(
  workload: Workload,
  name: string,
  text: string | undefined,
  options: WriteAnnotationOptions,
): Promise<"written" | "changed"> {
  const body = { metadata: { uid: workload.uid, annotations: { [name]: text ?? null } } };
  return send(workload, "application/merge-patch+json", body, options);
}

/** Applies a patch of annotations of a workload, beside rollouts. A patch with tests changes no newer workload. */
export function patchAnnotations(
  workload: Workload,
  patch: JsonPatch,
  options: WriteAnnotationOptions,
): Promise<"written" | "changed"> {
  return send(workload, "application/json-patch+json", patch, options);
}

async function send(
  workload: Workload,
  contentType: string,
  body: object,
  { client, leadership }: WriteAnnotationOptions,
): Promise<"written" | "changed"> {
  try {
    await client.request({
      method: "PATCH",
      path: workloadPath(workload),
      query: { fieldManager: annotationManager },
      contentType,
      body,
      signal: leadership.abort,
      mayBeSent: leadership.valid,
    });
    return "written";
  } catch (error) {
    return unlessChanged(error);
  }
}

/** Returns "changed" if a write failed because its object is gone or is another one. Throws every other error. */
export function unlessChanged(error: unknown): "changed" {
  const type = apiFailureOf(error)?.type;
  if (type === "notFound" || type === "conflict" || type === "invalid") return "changed";
  throw error;
}
