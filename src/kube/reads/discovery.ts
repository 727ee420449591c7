import { isForbidden, isNotFound } from "../api/api-failure.ts";
import type { ApiClient } from "../http/client.ts";
import { getIfExists } from "./reads.ts";

/** A resource that the API server serves. */
/** The resource that {@link findResource} finds. `plural` is its name in URLs. */
interface ResourceQuery {
  readonly group: string;
  /** Undefined: the preferred version that has the resource. */
  readonly version: string | undefined;
  readonly plural: string;
}

interface DiscoveredResource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#apigroup-v1-meta */
interface ApiGroup {
  readonly versions?: readonly { readonly version: string }[];
  readonly preferredVersion?: { readonly version: string };
}

interface ApiResourceList {
  readonly resources?: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[];
}

/**
 * Finds a resource in the discovery of the API server. Every authenticated user has permission (`system:discovery`). Returns
 * undefined if the API server does not serve the resource. Throws what requests throw.
 */
export async function findResource(
  client: Pick<ApiClient, "request">,
  { group, version, plural }: ResourceQuery,
  signal?: AbortSignal,
): Promise<DiscoveredResource | undefined> {
  const read = <T>(path: string) => getIfExists<T>(client, { path, ...(signal && { signal }) });
  const versions = version === undefined ? versionsOf(await read<ApiGroup>(`/apis/${group}`)) : [version];
  for (const each of versions) {
    const list = await read<ApiResourceList>(`/apis/${group}/${each}`);
    const found = list?.resources?.find(({ name }) => name === plural);
    if (found) return { apiVersion: `${group}/${each}`, kind: found.kind, namespaced: found.namespaced };
  }
  return undefined;
}

function versionsOf(group: ApiGroup | undefined): readonly string[] {
  const all = (group?.versions ?? []).map(({ version }) => version);
  const first = group?.preferredVersion?.version;
  return first === undefined ? all : [first, ...all.filter((version) => version !== first)];
}

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
