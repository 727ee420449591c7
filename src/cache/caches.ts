/** This folder keeps the state of the cluster in memory and reads it live. It knows the domain and the API, but no controller. */
import type { WorkloadKind, WorkloadRow } from "../domain/model/kind-row.ts";
import type { KubeObject } from "../kube/api/resources.ts";
import type { ApiClient } from "../kube/http/client.ts";
import { listOnce, listWatch } from "../kube/list-watch/list-watch.ts";
import { createWatchActivity } from "../kube/list-watch/watch-activity.ts";
import { sleep } from "../lib/clock.ts";
import { type Caches, type CachesOptions, cachesOver } from "./cluster-cache.ts";
import type { FindKind, ListNamespace, ReadTemplate, Watch, WatchTarget } from "./store/kind-cache.ts";
import { findKind, readWithBorrowedTemplate } from "./workloads/workload-reads.ts";

/** Creates {@link Caches} of an API server, with a list-watch for each kind and namespace. */
export function createCaches({
  client,
  random = Math.random,
  ...options
}: CachesOptions & { readonly client: ApiClient }): Caches {
  const { clock, log, metrics } = options;
  const activity = createWatchActivity(clock, metrics);
  const watch: Watch = <O extends KubeObject>(what: WatchTarget, signal: AbortSignal) => {
    const tracked = activity.start(what.resource.plural, what.namespace, signal);
    return listWatch<O>({ client, ...what, clock, log, metrics, random, ...tracked, signal });
  };
  const list: ListNamespace = (what, signal) => listOnce({ client, ...what, clock, log, metrics, random, signal });
  const found = new Map<WorkloadKind, WorkloadRow | undefined>();
  const find: FindKind = async (kind, signal) => {
    const pause = () => sleep(clock, 1_000, signal);
    const row = await findKind(client, kind, { before: found.get(kind.id), pause, signal });
    found.set(kind.id, row);
    return row;
  };
  const readTemplate: ReadTemplate = (row, name, signal) =>
    readWithBorrowedTemplate(client, row, name, { timeoutMs: 10_000, signal });
  return cachesOver({ watch, list, find, readTemplate }, { ...options, random, ...activity });
}
