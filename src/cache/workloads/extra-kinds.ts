import type { WorkloadKind, WorkloadRow } from "../../domain/model/kind-row.ts";
import { builtInKinds } from "../../domain/model/kinds/apps-kinds.ts";
import type { RequestedKind } from "../../domain/model/kinds/requested-kind.ts";
import { isApiFailure, retryAfterMs } from "../../kube/api/api-failure.ts";
import { sleep } from "../../lib/clock.ts";
import { backoffMs } from "../../runtime/timers.ts";
import { errorText, logMessages } from "../../telemetry/logging/log-messages.ts";
import type { ProcessContext } from "../../telemetry/process-context.ts";
import type { CacheSource, ListNamespace, Watch } from "../store/kind-cache.ts";
import type { WorkloadCache } from "./workload-caches.ts";

/** Interval of checks whether the API server serves a kind. A new CustomResourceDefinition is not urgent. */
const checkEveryMs = 30_000;
const retries = { baseMs: 1_000, maxMs: checkEveryMs };
/** Number of checks in a row without the kind until it is gone: replicas of an API server learn of a kind one after the other. */
const missesUntilGone = 2;

/** A kind that the API server serves. */
interface Present {
  readonly row: WorkloadRow;
  readonly cache: WorkloadCache;
  /** Failed lists by namespace, "" for all. */
  readonly problems: Map<string, string>;
}

interface ExtraKindsOptions extends Pick<ProcessContext, "clock" | "log" | "random"> {
  readonly workloadKinds?: readonly RequestedKind[] | undefined;
  readonly source: CacheSource;
  /** The caches of all kinds. Caches of extra kinds are added and removed. */
  readonly caches: Map<WorkloadKind, WorkloadCache>;
  readonly cacheOf: (row: WorkloadRow) => WorkloadCache;
  readonly onListed?: (kind: string, namespace: string) => void;
}

/**
 * Kinds of workload whose API is optional. Each is cached while the API server serves it. Nothing else waits for them. They are
 * found by discovery, which needs no permission. A watch of CustomResourceDefinitions would need a cluster-wide permission.
 */
export class ExtraKinds {
  readonly #options: ExtraKindsOptions;
  readonly #present = new Map<WorkloadKind, Present>();

  constructor(options: ExtraKindsOptions) {
    this.#options = options;
  }

  /** Returns the rows of all available kinds, including the built-in ones. */
  rows(): readonly WorkloadRow[] {
    if (this.#present.size === 0) return builtInKinds;
    return [...builtInKinds, ...this.#present.values().map(({ row }) => row)];
  }

  caches(): readonly WorkloadCache[] {
    return [...this.#present.values().map(({ cache }) => cache)];
  }

  /** Returns one line for each available kind that cannot be listed. */
  notes(): readonly string[] {
    return [...this.#present.values().flatMap(({ problems }) => problems.values())];
  }

  /** See {@link KindCache.relist}. Skips a kind that could never be listed: its first list is complete as soon as it works. */
  async relist(namespace: string, list: ListNamespace, signal: AbortSignal): Promise<boolean> {
    for (const { cache, problems } of this.#present.values()) {
      const isUnlisted = problems.size > 0 && !cache.isListed(namespace);
      if (!isUnlisted && !(await cache.relist(namespace, list, signal))) return false;
    }
    return true;
  }

  /** Checks for each kind and caches it while it is available, until the signal is aborted. Rejects only for a bug. */
  async run(watch: Watch, signal: AbortSignal): Promise<void> {
    const { find } = this.#options.source;
    const wanted = this.#options.workloadKinds ?? [];
    if (find === undefined || wanted.length === 0) return;
    const broken = Promise.withResolvers<never>();
    const begin = (row: WorkloadRow) => this.#begin(row, watch, signal, broken.reject);
    const all = wanted.map((kind) => this.#follow(kind.id, (each) => find(kind, each), begin, signal));
    await Promise.race([Promise.all(all), broken.promise]);
  }

  async #follow(
    id: WorkloadKind,
    find: (signal: AbortSignal) => Promise<WorkloadRow | undefined>,
    begin: (row: WorkloadRow) => Running,
    signal: AbortSignal,
  ): Promise<void> {
    const { log, clock, random } = this.#options;
    let failures = 0;
    let misses = 0;
    let running: Running | undefined;
    const end = async () => {
      await running?.end();
      running = undefined;
    };
    for (let checks = 0; !signal.aborted; checks++) {
      let waitMs = checkEveryMs;
      try {
        const row = await find(signal);
        if (failures > 0) log.info("the check for a kind of workload works again", { kind: id });
        [failures, misses] = [0, row === undefined ? misses + 1 : 0];
        const before = running?.row;
        const isAnother = row !== undefined && (row.apiVersion !== before?.apiVersion || row.kind !== before.kind);
        if (isAnother || (running !== undefined && misses === missesUntilGone)) await end();
        if (row !== undefined && running === undefined) running = begin(row);
        else if (row === undefined && checks === 0)
          log.info("a kind of workload is not available, checking again every 30 s", { kind: id });
      } catch (error) {
        if (signal.aborted) break;
        if (!isApiFailure(error)) throw error;
        const level = failures === 0 ? "warn" : "debug";
        log[level](logMessages.kindCheckFailed, {
          kind: id,
          error: errorText(error),
        });
        waitMs = Math.max(retryAfterMs(error), backoffMs(failures++, { ...retries, random }));
      }
      // Rejects only if the signal is aborted, which the loop checks itself.
      await sleep(clock, waitMs, signal).catch(() => {});
    }
    await running?.ended;
  }

  /** Starts to cache a kind. `broken` receives a bug. */
  #begin(row: WorkloadRow, watch: Watch, signal: AbortSignal, broken: (error: unknown) => void): Running {
    const { caches, cacheOf, log, onListed } = this.#options;
    const over = new AbortController();
    const problems = new Map<string, string>();
    const cache = cacheOf(row);
    caches.set(row.id, cache);
    this.#present.set(row.id, { row, cache, problems });
    log.info("a kind of workload is available", { kind: row.id, apiVersion: row.apiVersion });
    const until = AbortSignal.any([signal, over.signal]);
    const runs = cache.run(watch, until, {
      listed: (namespace) => {
        problems.delete(namespace);
        onListed?.(row.id, namespace);
      },
      failed: (namespace, reason) => problems.set(namespace, reason),
    });
    const ended = Promise.all(
      runs.map((run) =>
        run.catch((error: unknown) => {
          if (!until.aborted) broken(error);
        }),
      ),
    ).then(() => {});
    return {
      row,
      ended,
      end: async () => {
        over.abort(new Error(`${row.id} are no longer served`));
        await ended;
        log.info("a kind of workload is no longer available", { kind: row.id, apiVersion: row.apiVersion });
        this.#present.delete(row.id);
        cache.clear();
        caches.delete(row.id);
      },
    };
  }
}

interface Running {
  readonly row: WorkloadRow;
  /** Resolves when its reflectors have ended. */
  readonly ended: Promise<void>;
  readonly end: () => Promise<void>;
}
