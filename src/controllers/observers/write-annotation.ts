import { workloadPath } from "../../cache/workloads/workload-resource.ts";
import type { Workload } from "../../domain/model/workload.ts";
import { annotationManager } from "../../domain/references/field-managers.ts";
import { apiFailureOf } from "../../kube/api/api-failure.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { Leadership } from "../../runtime/leadership.ts";

/** Writes or removes an annotation of a workload, beside rollouts. An object of the same name with another uid is not changed. */
export async function writeAnnotation(
  workload: Workload,
  name: string,
  text: string | undefined,
  { client, leadership }: { readonly client: Pick<ApiClient, "request">; readonly leadership: Leadership },
): Promise<"written" | "changed"> {
  const { uid } = workload;
  const body = { metadata: { uid, annotations: { [name]: text ?? null } } };
  try {
    await client.request({
      method: "PATCH",
      path: workloadPath(workload),
      query: { fieldManager: annotationManager },
      contentType: "application/merge-patch+json",
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
