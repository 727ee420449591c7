// This folder sends the requests of commands: bounded, in pages, and with the permission that a failed read lacks. It knows no kind.
import type { KubeObject } from "../../../kube/api/api-types.ts";
import { type Resource, resourcePath } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { pagedList } from "../../../kube/list-watch/paged-list.ts";
import { systemClock } from "../../../lib/clock.ts";
import { silentLogger } from "../../../telemetry/logging/log.ts";

type Awaitable<T> = T | Promise<T>;

/** The objects that a list contains. */
export interface ListScope {
  /** Undefined: all namespaces, or a resource without namespaces. */
  readonly namespace?: string | undefined;
  /** In the syntax of `kubectl -l`; the API server validates it. */
  readonly labelSelector?: string | undefined;
  /** In the syntax of `kubectl --field-selector`. */
  readonly fieldSelector?: string | undefined;
  /** The representation, such as {@link onlyMetadata}; undefined: whole objects. */
  readonly accept?: string | undefined;
}

/**
 * Lists objects in pages and returns the results of `keep`, without those that are undefined. Thousands of Secrets are never in memory
 * at once. Throws what {@link ApiClient.stream} throws.
 */
export async function listAll<T extends KubeObject, K>(
  client: ApiClient,
  resource: Resource,
  { namespace, labelSelector, fieldSelector, accept }: ListScope,
  keep: (object: T) => Awaitable<K | undefined>,
): Promise<readonly K[]> {
  let kept: K[] = [];
  const pages = pagedList<T>({
    client,
    path: resourcePath(resource, { namespace }),
    what: namespace === undefined ? resource.plural : `${resource.plural} in ${namespace}`,
    labelSelector,
    fieldSelector,
    accept,
    clock: systemClock,
    log: silentLogger,
    signal: new AbortController().signal,
  });
  for await (const event of pages) {
    // The continue token expired: the list starts again.
    if (event.type === "init") kept = [];
    if (event.type !== "initApply") continue;
    const one = await keep(event.object);
    if (one !== undefined) kept.push(one);
  }
  return kept;
}
