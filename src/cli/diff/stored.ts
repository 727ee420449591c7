import type { ApiClient } from "../../kube/client.ts";
import { ApiError, isForbidden, isNotFound } from "../../kube/errors.ts";
import { type Resource, resourcePath } from "../../kube/resources.ts";
import { errorText } from "../../telemetry/error-text.ts";
import type { JsonMap } from "./manifests/json.ts";

/** An object as it is stored, all of it. */
export type Stored =
  | { readonly state: "present"; readonly object: JsonMap }
  | { readonly state: "absent" }
  | { readonly state: "forbidden" | "unreadable"; readonly error: string };

/** Reads an object of which there is a manifest. Throws where the API server does not answer; what it refuses is told. */
export async function readStored(
  client: Pick<ApiClient, "request">,
  resource: Resource,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<Stored> {
  const path = resourcePath(resource, resource.namespaced ? { namespace, name } : { name });
  try {
    return { state: "present", object: await client.request<JsonMap>({ method: "GET", path }) };
  } catch (error) {
    if (isNotFound(error)) return { state: "absent" };
    if (!(error instanceof ApiError)) throw error;
    return { state: isForbidden(error) ? "forbidden" : "unreadable", error: errorText(error) };
  }
}
