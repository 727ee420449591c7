import type { KubeObject } from "../../kube/api/api-types.ts";
import { type Resource, resourcePath } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { pagedList } from "../../kube/list-watch/paged-list.ts";
import { systemClock } from "../../lib/clock.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";

type Awaitable<T> = T | Promise<T>;

/** Which objects are listed. */
export interface ListScope {
  /** Undefined: of all namespaces, or of none where the resource has none. */
  readonly namespace?: string | undefined;
  /** As `kubectl -l` takes it; the API server judges it. */
  readonly labelSelector?: string | undefined;
  /** As `kubectl --field-selector` takes it. */
  readonly fieldSelector?: string | undefined;
  /** In which form, such as {@link onlyMetadata}; undefined: whole objects. */
  readonly accept?: string | undefined;
}

/**
 * What `keep` makes of each object that exists now, without what it makes undefined: in pages, so that thousands of
 * Secrets are never in memory at once. Throws what {@link ApiClient.stream} throws.
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
    // The server gave up the moment of which the pages were: what came until now is void.
    if (event.type === "init") kept = [];
    if (event.type !== "initApply") continue;
    const one = await keep(event.object);
    if (one !== undefined) kept.push(one);
  }
  return kept;
}
