import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { KubeObject } from "../api/api-types.ts";
import { type Resource, resourcePath } from "../api/resources.ts";
import type { ApiClient } from "../http/client.ts";
import { type PagedListContext, pagedList } from "../list-watch/paged-list.ts";

/** What {@link freshList} needs. */
export interface FreshListOptions {
  readonly client: Pick<ApiClient, "request" | "stream">;
  readonly clock: Clock;
  readonly log: Logger;
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
