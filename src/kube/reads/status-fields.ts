import { isForbidden, isNotFound } from "../api/errors.ts";
import type { ApiClient } from "../http/client.ts";

/** https://spec.openapis.org/oas/v3.0.0#schema-object, as far as it is read. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly "x-kubernetes-group-version-kind"?: readonly {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  }[];
}

/**
 * The names of the fields that the status of a kind may have, as far as its definition says; undefined where the API server does not
 * tell, or not yet: a definition is published a second after its kind is served. For the documents whoever may log in needs no
 * permission (`system:discovery`, https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-v3). Throws what
 * requests throw, besides 403 and 404.
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
