import { isNotFound } from "../api/errors.ts";
import type { ApiRequest } from "../http/api-request.ts";
import type { ApiClient } from "../http/client.ts";

/** What a GET answers; undefined where there is nothing of that path. Throws what {@link ApiClient.request} throws, besides 404. */
export async function getIfExists<T>(
  client: Pick<ApiClient, "request">,
  request: Omit<ApiRequest, "method" | "body">,
): Promise<T | undefined> {
  try {
    return await client.request<T>({ method: "GET", ...request });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
