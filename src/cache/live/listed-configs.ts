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
   * workload. Returns nothing until the GETs have cost as much as a list.
   */
  readonly confirmed: (workload: Workload, objects: readonly StoredName[]) => Promise<ReadonlyMap<string, Config>>;
}

/** What {@link createListedConfigs} needs. */
export interface ListedConfigsOptions extends Pick<ProcessContext, "clock" | "log"> {
  readonly client: ApiClient;
  readonly caches: Pick<Caches, "countIn" | "found" | "kinds" | "lookup" | "syncedUpTo" | "workloadsSyncedUpTo">;
  readonly policy: Pick<Policy, "compatibility" | "namespaces">;
  /** Ends all lists. */
  readonly signal: AbortSignal;
}

/** How many objects of a list cost as much as one GET. */
const objectsPerRead = 50;
/** A cluster with at most so many objects of a kind is listed as a whole: many namespaces then need one list. */
const maxInCluster = 1_000;
/** A namespace with more objects of a kind is not listed: the list would take seconds. */
const maxObjects = 20_000;
/** The time limit of a list, in milliseconds. Without a complete list, nothing is confirmed. */
const timeoutMs = 10_000;
/** How long a list confirms objects, in milliseconds: a watch may be late, and an edit after the list would need another rollout. */
const validMs = 15_000;

/** A list of one kind in one namespace, or in all. */
interface List {
  readonly begunAt: number;
  /** The versions of workloads, by kind, that were written before the list began. */
  readonly upTo: ReadonlyMap<WorkloadKind, number>;
  /** The cached objects that the list showed with the same content. */
  readonly confirmed: WeakSet<Config>;
  /** Resolves when the list is complete or has failed. */
  readonly done: Promise<void>;
}

/** Creates it. At most one list runs at a time, because its pages take memory. */
export function createListedConfigs(options: ListedConfigsOptions): ListedConfigs {
  const { caches, clock, policy, signal } = options;
  const lists = new Map<string, List>();
  /** How many objects were needed since the last list began, by kind and listed namespace. */
  const needed = new Map<string, number>();
  let isListing = false;

  const hasExpired = ({ begunAt }: List) => clock.monotonic() - begunAt >= validMs;

  /** `listed`: the namespace to list; undefined for all. The caches receive the workloads of all in one watch, as those of `namespace`. */
  const begin = (kind: StoredKind, listed: string | undefined, namespace: string): List => {
    const upTo = new Map(caches.kinds().map(({ id }) => [id, caches.workloadsSyncedUpTo(id, namespace)]));
    const confirmed = new WeakSet<Config>();
    for (const [key, each] of lists) if (hasExpired(each)) lists.delete(key);
    isListing = true;
    const end = () => {
      isListing = false;
    };
    // If the list fails, the objects are read one by one, and those reads report the failure.
    const done = readList(kind, listed, options, (config) => confirmed.add(config)).then(end, end);
    return { begunAt: clock.monotonic(), upTo, confirmed, done };
  };

  const covers = (list: List, { row, namespace, resourceVersion }: Workload) => {
    const version = list.upTo.get(row.id) ?? 0;
    if (hasExpired(list)) return false;
    // The version of the caches decreases if the storage was restored: then older versions may be later writes.
    return (
      resourceVersion > 0 && resourceVersion <= version && version <= caches.workloadsSyncedUpTo(row.id, namespace)
    );
  };

  const listFor = (kind: StoredKind, workload: Workload, objects: number): List | undefined => {
    const { namespace } = workload;
    const all = policy.namespaces === undefined ? caches.countIn(kind) : Number.POSITIVE_INFINITY;
    const listed = all <= maxInCluster ? undefined : namespace;
    const key = `${kind}/${listed ?? ""}`;
    const last = lists.get(key);
    const size = listed === undefined ? all : caches.countIn(kind, listed);
    const count = (needed.get(key) ?? 0) + objects;
    if (last !== undefined && covers(last, workload)) {
      needed.set(key, count);
      return last;
    }
    if (isListing || size > maxObjects || count < 1 + size / objectsPerRead) {
      needed.set(key, count);
      return undefined;
    }
    needed.delete(key);
    const next = begin(kind, listed, namespace);
    lists.set(key, next);
    return next;
  };

  return {
    confirmed: async (workload, objects) => {
      const found = new Map<string, Config>();
      // A workload that borrows its pod template has two versions.
      if (workload.templateSource !== undefined || signal.aborted) return found;
      const own = objects.filter(({ namespace }) => namespace === workload.namespace);
      const ofKind = (kind: StoredKind) => own.filter((object) => object.kind === kind);
      for (const [kind, named] of [
        ["ConfigMap", ofKind("ConfigMap")],
        ["Secret", ofKind("Secret")],
      ] as const) {
        const listed = named.length === 0 ? undefined : listFor(kind, workload, named.length);
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
