import type { ApiClient } from "../kube/client.ts";
import { listWatch } from "../kube/list-watch.ts";
import { type Caches, type CachesOptions, cachesOver } from "./cluster-cache.ts";

export type { Caches, CachesOptions } from "./cluster-cache.ts";
export type { StoreChange } from "./store.ts";

/** {@link Caches} of what an API server has, by a list-watch for each kind and namespace. */
export function createCaches({ client, ...options }: CachesOptions & { readonly client: ApiClient }): Caches {
  const { clock, log, metrics } = options;
  return cachesOver((what, signal) => listWatch({ client, ...what, clock, log, metrics, signal }), options);
}
