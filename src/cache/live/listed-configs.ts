import type { CompatibilitySettings } from "../../domain/compatibility/directive.ts";
import { type Config, type ConfigObject, isReceived, sameConfig, toConfig } from "../../domain/config/digest.ts";
import type { WorkloadKind } from "../../domain/model/kind-row.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import { configKey, type StoredKind, type StoredName } from "../../domain/references/references.ts";
import { type KubeObject, resourcePath } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { pagedList } from "../../kube/list-watch/paged-list.ts";
import type { ProcessContext } from "../../telemetry/process-context.ts";
import type { Caches } from "../cluster-cache.ts";
import { withoutHelmReleases } from "../configs/config-caches.ts";
import { configResources } from "./live-configs.ts";

/** Confirms cached objects for many workloads by one list of their namespace, or of a small cluster, in place of one GET for each. */
export interface ListedConfigs {
  /**
   * Returns those of `objects`, by key, whose cached state is what a list showed that began after the last write of the
   * workload. Returns nothing until the GETs have cost as much as a list. `record`: the plan only records what Pods read.
   */
  readonly confirmed: (
    workload: Workload,
    objects: readonly StoredName[],
    record?: ConfirmedRecord,
  ) => Promise<ReadonlyMap<string, Config>>;
}

/** A record of what the Pods of a workload read. */
export interface ConfirmedRecord {
  /**
   * Only a list that began at this time or later confirms the record, in monotonic milliseconds: when the API server listed the Pods, or when their
   * status last changed. The Pods may have read an edit that an earlier list does not show.
   */
  readonly notBefore: number;
  /** Whether a list confirms the record for 5 minutes: all Pods are available, and their status has not changed since. Or the record proves nothing. */
  readonly isLasting: boolean;
}

/** What {@link createListedConfigs} needs. */
export interface ListedConfigsOptions extends Pick<ProcessContext, "clock" | "log"> {
  readonly client: ApiClient;
  readonly caches: Pick<Caches, "countIn" | "found" | "kinds" | "lookup" | "syncedUpTo" | "workloadsSyncedUpTo">;
  readonly policy: Pick<Policy, "compatibility" | "namespaces">;
  /** Returns how many workloads wait for a permit. When a record is planned, most of them are expected to be records, too. */
  readonly waiting: () => number;
  /** Ends all lists. */
  readonly signal: AbortSignal;
}

/** How many objects of a list cost as much as one GET: the API server and etcd need 1.4 ms for one GET, and 7 to 10 ms for 500 objects of 0.9 KB. */
const objectsPerRead = 100;
/** A cluster with at most so many objects of a kind is listed as a whole: many namespaces then need one list. Records need few lists. */
const maxInCluster = { rollouts: 1_000, records: 5_000 };
/** A namespace with more objects of a kind is not listed: the list would take seconds. */
const maxObjects = 20_000;
/** The time limit of a list, in milliseconds. Without a complete list, nothing is confirmed. */
const timeoutMs = 10_000;
/** How long a list confirms objects for a rollout, in milliseconds: a watch may be late, and an edit after the list would need another rollout. */
const validMs = 15_000;
/** How long a list confirms a record with `isLasting`, in milliseconds. A later edit does not change what its Pods have read. */
const validForRecordsMs = 300_000;

/** A list of one kind in one namespace, or in all. */
interface List {
  readonly begunAt: number;
  /** The versions of workloads, by kind, that were written before the list began. */
  readonly upTo: ReadonlyMap<WorkloadKind, number>;
  /** The cached objects that the list showed with the same content. */
  readonly confirmed: WeakSet<Config>;
  /** Resolves when the list is complete or has failed. */
  readonly done: Promise<void>;
  isComplete: boolean;
}

/** Creates it. At most one list runs at a time, because its pages take memory. */
export function createListedConfigs(options: ListedConfigsOptions): ListedConfigs {
  const { caches, clock, policy, waiting, signal } = options;
  const lists = new Map<string, List>();
  /** How many objects were needed since the last list began, by kind and listed namespace. */
  const needed = new Map<string, number>();
  /** The list that is in progress. */
  let running: List | undefined;

  const isYounger = ({ begunAt }: List, thanMs: number) => clock.monotonic() - begunAt < thanMs;

  /** `listed`: the namespace to list; undefined for all. The caches receive the workloads of all in one watch, as those of `namespace`. */
  const begin = (kind: StoredKind, listed: string | undefined, namespace: string): List => {
    const upTo = new Map(caches.kinds().map(({ id }) => [id, caches.workloadsSyncedUpTo(id, namespace)]));
    const confirmed = new WeakSet<Config>();
    for (const [key, each] of lists) if (!isYounger(each, validForRecordsMs)) lists.delete(key);
    const end = (isComplete: boolean) => {
      running = undefined;
      list.isComplete = isComplete;
    };
    // If the list fails, the objects are read one by one, and those reads report the failure.
    const done = readList(kind, listed, options, (config) => confirmed.add(config)).then(
      () => end(true),
      () => end(false),
    );
    const list: List = { begunAt: clock.monotonic(), upTo, confirmed, done, isComplete: false };
    running = list;
    return list;
  };

  const covers = (list: List, { row, namespace, resourceVersion }: Workload, record: ConfirmedRecord | undefined) => {
    const version = list.upTo.get(row.id) ?? 0;
    if (!isYounger(list, record?.isLasting && list.isComplete ? validForRecordsMs : validMs)) return false;
    if (record !== undefined && list.begunAt < record.notBefore) return false;
    // The version of the caches decreases if the storage was restored: then older versions may be later writes.
    return (
      resourceVersion > 0 && resourceVersion <= version && version <= caches.workloadsSyncedUpTo(row.id, namespace)
    );
  };

  const listFor = async (
    kind: StoredKind,
    workload: Workload,
    objects: number,
    record: ConfirmedRecord | undefined,
  ): Promise<List | undefined> => {
    const { namespace } = workload;
    const all = policy.namespaces === undefined ? caches.countIn(kind) : Number.POSITIVE_INFINITY;
    const most = record?.isLasting ? maxInCluster.records : maxInCluster.rollouts;
    const listed = all <= most ? undefined : namespace;
    const size = listed === undefined ? all : caches.countIn(kind, listed);
    const key = `${kind}/${listed ?? ""}`;
    needed.set(key, (needed.get(key) ?? 0) + objects);
    while (!signal.aborted) {
      const last = lists.get(key);
      if (last !== undefined && covers(last, workload, record)) return last;
      // One list confirms most records that wait. Those of workloads that have changed since do not need a list each.
      const isRecent = last !== undefined && isYounger(last, last.isComplete ? validForRecordsMs : validMs);
      const expected =
        (needed.get(key) ?? 0) + (record?.isLasting && listed === undefined && !isRecent ? waiting() : 0);
      if (size > maxObjects || expected < 1 + size / objectsPerRead) return undefined;
      if (running === undefined) {
        needed.delete(key);
        const next = begin(kind, listed, namespace);
        lists.set(key, next);
        return next;
      }
      // Each list of another namespace may take 10 s.
      if (running !== last) return undefined;
      await running.done;
    }
    return undefined;
  };

  return {
    confirmed: async (workload, objects, record) => {
      const found = new Map<string, Config>();
      // A workload that borrows its pod template has two versions.
      if (workload.templateSource !== undefined || signal.aborted) return found;
      const own = objects.filter(({ namespace }) => namespace === workload.namespace);
      const ofKind = (kind: StoredKind) => own.filter((object) => object.kind === kind);
      for (const [kind, named] of [
        ["ConfigMap", ofKind("ConfigMap")],
        ["Secret", ofKind("Secret")],
      ] as const) {
        const listed = named.length === 0 ? undefined : await listFor(kind, workload, named.length, record);
        if (listed === undefined) continue;
        await listed.done;
        for (const { namespace, name } of named) {
          const cached = caches.lookup(kind, namespace, name);
          if (cached !== undefined && listed.confirmed.has(cached))
            found.set(configKey({ kind, namespace, name }), cached);
        }
      }
      return found;
    },
  };
}

/** Lists the objects of a kind in a namespace, or in all, as they are stored, and passes on each cached object with the same content. */
async function readList(
  kind: StoredKind,
  listed: string | undefined,
  { client, caches, policy, clock, log, signal }: ListedConfigsOptions,
  onSame: (cached: Config) => void,
): Promise<void> {
  const late = new AbortController();
  const cancel = clock.timer(timeoutMs, () => late.abort());
  const resource = configResources[kind];
  try {
    const events = pagedList<KubeObject & ConfigObject>({
      client,
      path: resourcePath(resource, { namespace: listed }),
      what: listed === undefined ? resource.plural : `${resource.plural} in ${listed}`,
      fieldSelector: kind === "Secret" ? withoutHelmReleases : undefined,
      digestsOf: kind,
      clock,
      log,
      signal: AbortSignal.any([signal, late.signal]),
    });
    for await (const event of events) {
      if (event.type !== "initApply") continue;
      const { namespace = "", name } = event.object.metadata;
      caches.found({ kind, namespace, name });
      const cached = caches.lookup(kind, namespace, name);
      const syncedUpTo = caches.syncedUpTo(kind, namespace);
      if (cached !== undefined && shows(event.object, cached, kind, syncedUpTo, policy.compatibility)) onSame(cached);
    }
  } finally {
    cancel();
  }
}

/**
 * Reports whether a listed object has the content of a cached one. A malformed object has not. Nor has an object with a later write, which
 * the caches have not received: its content may have changed and changed back.
 */
function shows(
  object: ConfigObject,
  cached: Config,
  kind: StoredKind,
  syncedUpTo: number,
  compatibility: CompatibilitySettings | undefined,
): boolean {
  try {
    const listed = toConfig(kind, object, compatibility);
    return isReceived(listed, syncedUpTo) && sameConfig(cached, listed);
  } catch {
    return false;
  }
}
