import type { Pod } from "#kubernetes";
import { type Workload, workloadKey } from "../../domain/model/workload-shape.ts";
import type { ListedPods } from "../../domain/pacing/moment.ts";
import { podOwner } from "../../domain/pods/pod-owner.ts";
import { earliest, type PodTimes, podTimes } from "../../domain/pods/pod-state.ts";
import { isForbidden } from "../../kube/api/api-failure.ts";
import { type KubeObject, resourcePath, resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { pagedList } from "../../kube/list-watch/paged-list.ts";
import type { ProcessContext } from "../../telemetry/process-context.ts";
import type { Caches } from "../cluster-cache.ts";

/** Finds out since when the Pods of workloads read, by one list of the Pods of a namespace for all of its workloads. */
export interface PodLists {
  /**
   * Returns what a list shows that has this resourceVersion, or a later one. If Wave may not list Pods, or there are too many, the Pods
   * count as older than everything. Rejects with the errors of requests.
   */
  readonly of: (workload: Workload, upTo: number) => Promise<ListedPods>;
}

/** What {@link createPodLists} needs. */
export interface PodListsOptions extends Pick<ProcessContext, "clock" | "log"> {
  readonly client: Pick<ApiClient, "request" | "stream">;
  readonly caches: Pick<Caches, "kinds">;
  /** Ends all lists. */
  readonly signal: AbortSignal;
}

/** How long a list is used, in milliseconds. Its Pods are not younger later, so an old list proves less. */
const validMs = 15_000;
/** How long the failure of a list stands for all workloads of its namespace, in milliseconds. */
const failedMs = 5_000;
/** A namespace with more Pods is not read to the end. */
const maxPods = 20_000;
const older: ListedPods = { times: { scheduledAt: 0, envAt: 0 }, listedUpTo: 0 };

/** A complete list of the Pods of a namespace. */
interface Listed {
  /** The earliest times of the Pods of each workload. */
  readonly oldest: ReadonlyMap<string, PodTimes> | "unread";
  /** The resourceVersion of the list. */
  readonly upTo: number;
  /** When the response to its last request began, in monotonic milliseconds. */
  readonly answeredAt?: number | undefined;
  /** When the API server answered, by its own clock, in seconds since the epoch. */
  readonly serverTime?: number | undefined;
}

const unread: Listed = { oldest: "unread", upTo: Number.POSITIVE_INFINITY };

interface List {
  readonly begunAt: number;
  /** Until when the list is used, in monotonic milliseconds. */
  validUntil: number;
  readonly done: Promise<Listed>;
}

/** Creates it. */
export function createPodLists(options: PodListsOptions): PodLists {
  const { clock } = options;
  const lists = new Map<string, List>();
  const isValid = ({ validUntil }: List) => clock.monotonic() < validUntil;

  const begin = (namespace: string): List => {
    for (const [each, list] of lists) if (!isValid(list)) lists.delete(each);
    const begunAt = clock.monotonic();
    const done = oldestPods(namespace, options).catch((error: unknown) => {
      if (isForbidden(error)) return unread;
      list.validUntil = clock.monotonic() + failedMs;
      throw error;
    });
    const list: List = { begunAt, validUntil: begunAt + validMs, done };
    lists.set(namespace, list);
    return list;
  };

  return {
    of: async (workload, upTo) => {
      const { namespace } = workload;
      const last = lists.get(namespace);
      let list = last !== undefined && isValid(last) ? last : begin(namespace);
      let listed = await list.done;
      if (list === last && listed.upTo < upTo) {
        const next = lists.get(namespace);
        list = next === undefined || next === last ? begin(namespace) : next;
        listed = await list.done;
      }
      const { oldest, upTo: listedUpTo, answeredAt, serverTime } = listed;
      if (oldest === "unread") return older;
      const requested = serverTime === undefined ? undefined : { monotonic: list.begunAt, serverTime };
      return { times: oldest.get(workloadKey(workload)), listedUpTo, answeredAt, requested };
    },
  };
}

/** Lists the Pods of a namespace. */
async function oldestPods(namespace: string, { client, caches, clock, log, signal }: PodListsOptions): Promise<Listed> {
  const kinds = caches.kinds();
  const oldest = new Map<string, PodTimes>();
  let serverTime: number | undefined;
  let answeredAt: number | undefined;
  const events = pagedList<KubeObject & Pick<Pod, "spec" | "status">>({
    client: client as ApiClient,
    path: resourcePath(resources.pods, { namespace }),
    what: `pods in ${namespace}`,
    // Pods that have ended, for example evicted ones, stay stored for a long time.
    fieldSelector: "status.phase!=Succeeded,status.phase!=Failed",
    // Pages have the time of the first one.
    answered: (at) => {
      serverTime ??= at;
      answeredAt = clock.monotonic();
    },
    clock,
    log,
    signal,
  });
  for (let read = 0; ; ) {
    const { done, value } = await events.next();
    if (done) return { oldest, upTo: Number(value) || 0, answeredAt, serverTime };
    if (value.type !== "initApply") continue;
    if (++read > maxPods) return unread;
    const { metadata } = value.object;
    const owner = podOwner(metadata, kinds);
    if (owner === undefined || metadata.deletionTimestamp !== undefined) continue;
    const key = workloadKey(owner);
    oldest.set(key, earliest(oldest.get(key), podTimes(value.object)));
  }
}
