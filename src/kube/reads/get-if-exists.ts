// Single reads that several callers share. Knows requests and resources, and no workload or plan.
import { isNotFound } from "../api/errors.ts";
import type { ApiRequest } from "../http/api-request.ts";
import type { ApiClient } from "../http/client.ts";

/** Sends a GET and returns the object; undefined if it does not exist. Throws what {@link ApiClient.request} throws, except 404. */
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
