// Single reads that several callers share. Knows requests and resources, and no workload or plan.
import type { Event } from "#kubernetes";
import type { ProcessContext } from "../../telemetry/process-context.ts";
import { isForbidden, isNotFound } from "../api/api-failure.ts";
import {
  type KubeList,
  type KubeObject,
  metadataOnlyList,
  type Resource,
  resourcePath,
  resources,
} from "../api/resources.ts";
import type { ApiRequest } from "../http/api-request.ts";
import type { ApiClient } from "../http/client.ts";
import { type PagedListContext, pagedList } from "../list-watch/paged-list.ts";

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

interface EventOfObject {
  readonly namespace: string;
  /** The uid of the object that the Event is about. */
  readonly uid: string;
  readonly reason: string;
  /** The earliest time of the Event, in milliseconds since the epoch. */
  readonly since: number;
}

/** Limit of Events of one object and reason. Kubernetes counts repeated Events in one. */
const maxRead = 50;

/** Returns the message of the newest Event of an object; undefined if there is none, or without permission to list Events. */
export async function eventMessage(
  client: Pick<ApiClient, "request">,
  { namespace, uid, reason, since }: EventOfObject,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const path = resourcePath(resources.events, { namespace });
  const query = { fieldSelector: `involvedObject.uid=${uid},reason=${reason}`, limit: maxRead };
  try {
    const list = await client.request<KubeList<KubeObject & Event>>({ method: "GET", path, query, signal });
    const events = (list.items ?? []).map((each) => ({ at: timeOf(each), message: each.message }));
    return events.filter(({ at }) => at >= since).toSorted((a, b) => b.at - a.at)[0]?.message;
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

function timeOf({ lastTimestamp, series, eventTime }: Event): number {
  return Date.parse(series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? "") || 0;
}

/** What {@link freshList} needs. */
export interface FreshListOptions extends Pick<ProcessContext, "clock" | "log"> {
  readonly client: Pick<ApiClient, "request" | "stream">;
  readonly signal: AbortSignal;
}

/**
 * Yields all objects of a resource, one at a time; undefined: of all namespaces. The list has no resourceVersion parameter, so the API
 * server reads it from etcd and not from its own cache
 * (https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list). An object may be yielded twice, if the list
 * had to start again. Throws what requests throw.
 */
export async function* freshList<T extends KubeObject>(
  resource: Resource,
  namespace: string | undefined,
  { client, clock, log, signal }: FreshListOptions,
  query: Pick<PagedListContext, "labelSelector" | "accept" | "answered"> = {},
): AsyncGenerator<T> {
  const path = resourcePath(resource, namespace === undefined ? {} : { namespace });
  const what = namespace === undefined ? resource.plural : `${resource.plural} in ${namespace}`;
  for await (const event of pagedList<T>({ client: client as ApiClient, path, what, clock, log, signal, ...query })) {
    if (event.type === "initApply") yield event.object;
  }
}

/** Yields the metadata of all objects of a collection, in pages. Each metadata may have 300 kB. Throws what requests throw. */
export async function* listMetadata(
  client: Pick<ApiClient, "request">,
  path: string,
  query: { readonly limit: number; readonly labelSelector?: string },
  signal: AbortSignal,
): AsyncGenerator<KubeObject["metadata"]> {
  let next: string | undefined;
  do {
    const page = {
      method: "GET",
      path,
      query: { ...query, continue: next },
      accept: metadataOnlyList,
      signal,
    } as const;
    const { items, metadata } = await client.request<KubeList<KubeObject>>(page);
    for (const item of items ?? []) yield item.metadata;
    next = metadata.continue;
  } while (next);
}

/** The resource that {@link findResource} finds. `plural` is its name in URLs. */
interface ResourceQuery {
  readonly group: string;
  /** Undefined: the preferred version that has the resource. */
  readonly version: string | undefined;
  readonly plural: string;
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
): Promise<Omit<Resource, "plural"> | undefined> {
  const read = <T>(path: string) => getIfExists<T>(client, { path, signal });
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
      signal,
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
