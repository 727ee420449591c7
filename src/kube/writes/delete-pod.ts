import { isConflict, isNotFound } from "../api/api-failure.ts";
import { type KubeObject, resourcePath, resources } from "../api/resources.ts";
import type { ApiRequest } from "../http/api-request.ts";
import type { ApiClient } from "../http/client.ts";

/** Deletes exactly this Pod, and only if it has not changed since it was read. */
export async function deletePod(
  client: Pick<ApiClient, "request">,
  { metadata }: KubeObject,
  sending: Pick<ApiRequest, "signal" | "mayBeSent">,
): Promise<void> {
  const { namespace, name, uid, resourceVersion } = metadata;
  const path = resourcePath(resources.pods, { ...(namespace && { namespace }), name });
  const body = { preconditions: { uid, resourceVersion } };
  try {
    await client.request({ method: "DELETE", path, body, ...sending });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
