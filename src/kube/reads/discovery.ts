import type { ApiClient } from "../http/client.ts";
import { getIfExists } from "./get-if-exists.ts";

/** The resource that {@link findResource} finds. `plural` is its name in URLs. */
export interface ResourceQuery {
  readonly group: string;
  /** Undefined: the preferred version that has the resource. */
  readonly version: string | undefined;
  readonly plural: string;
}

/** A resource that the API server serves. */
export interface DiscoveredResource {
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
