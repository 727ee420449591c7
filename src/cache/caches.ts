import type { KubeObject } from "../kube/api-types.ts";
import type { ApiClient } from "../kube/client.ts";
import { createLastHeard } from "../kube/last-heard.ts";
import { listOnce, listWatch } from "../kube/list-watch.ts";
import { sleep } from "../lib/clock.ts";
import type { WorkloadKind, WorkloadRow } from "../rollout/workload.ts";
import type { CachesOptions } from "./caches-options.ts";
import { type Caches, cachesOver } from "./cluster-cache.ts";
import { findKind } from "./find-kind.ts";
import type { FindKind, ListNamespace, Watch, Watched } from "./kind-cache.ts";
import { readWithLentTemplate } from "./lent-template.ts";
import type { ReadTemplate } from "./lent-templates.ts";

export type { CachesOptions } from "./caches-options.ts";
export type { Caches } from "./cluster-cache.ts";
export type { StoreChange } from "./store.ts";

/** What {@link createCaches} needs. */
export interface ClusterCachesOptions extends Omit<CachesOptions, "late"> {
  readonly client: ApiClient;
}

/** {@link Caches} of what an API server has, by a list-watch for each kind and namespace. */
export function createCaches({ client, random = Math.random, ...options }: ClusterCachesOptions): Caches {
  const { clock, log, metrics } = options;
  const lastHeard = createLastHeard(clock, metrics);
  const watch: Watch = <O extends KubeObject>(what: Watched, signal: AbortSignal) => {
    const heard = lastHeard.watching(what.resource.plural, what.namespace, signal);
    return listWatch<O>({ client, ...what, clock, log, metrics, random, heard, signal });
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
    readWithLentTemplate(client, row, name, { timeoutMs: 10_000, signal });
  return cachesOver({ watch, list, find, readTemplate }, { ...options, random, late: lastHeard.late });
}
