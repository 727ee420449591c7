import { isForbidden, isNotFound } from "../api/errors.ts";
import type { ApiClient } from "../http/client.ts";

/** https://spec.openapis.org/oas/v3.0.0#schema-object, only the fields that Wave reads. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly "x-kubernetes-group-version-kind"?: readonly {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  }[];
}

/**
 * Returns the names of the status fields in the schema of a kind. Returns undefined if the API server does not publish the
 * schema, or not yet: it publishes a schema one second after it serves the kind. Every authenticated user has permission
 * (`system:discovery`, https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-v3). Throws what requests throw,
 * except 403 and 404.
 */
export async function findStatusFields(
  client: Pick<ApiClient, "request">,
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  signal?: AbortSignal,
): Promise<ReadonlySet<string> | undefined> {
  try {
    const path = `/openapi/v3/apis/${apiVersion}`;
    const { components } = await client.request<{ components?: { schemas?: Readonly<Record<string, Schema>> } }>({
      method: "GET",
      path,
      ...(signal && { signal }),
    });
    const found = Object.values(components?.schemas ?? {}).find((schema) =>
      schema["x-kubernetes-group-version-kind"]?.some(
        (each) => `${each.group}/${each.version}` === apiVersion && each.kind === kind,
      ),
    );
    return found && new Set(Object.keys(found.properties?.status?.properties ?? {}));
  } catch (error) {
    if (isForbidden(error) || isNotFound(error)) return undefined;
    throw error;
  }
}
