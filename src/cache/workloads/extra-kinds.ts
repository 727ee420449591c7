import { builtInKinds } from "../../domain/model/built-in-kinds.ts";
import type { RequestedKind } from "../../domain/model/kinds/requested-kind.ts";
import type { WorkloadKind, WorkloadRow } from "../../domain/model/workload.ts";
import { isApiFailure, retryAfterMs } from "../../kube/api/api-failure.ts";
import { type Clock, sleep } from "../../lib/clock.ts";
import { backoffMs } from "../../runtime/backoff.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { CacheSource, ListNamespace, Watch } from "../store/kind-cache.ts";
import type { WorkloadCache } from "./workload-caches.ts";

/** How often it is asked whether a kind is there. A CustomResourceDefinition is no news that anybody waits for. */
const lookEveryMs = 30_000;
const retries = { baseMs: 1_000, maxMs: lookEveryMs };
/** So often in a row it must be missing until it counts as gone: replicas of an API server learn of a kind one after the other. */
const missesUntilGone = 2;

/** A kind that is there. */
interface Present {
  readonly row: WorkloadRow;
  readonly cache: WorkloadCache;
  /** Why it could not be listed, by namespace, "" for all. */
  readonly problems: Map<string, string>;
}

/** What {@link ExtraKinds} works with. */
export interface ExtraKindsOptions {
  readonly workloadKinds?: readonly RequestedKind[] | undefined;
  readonly source: CacheSource;
  /** Those of all kinds; what is found here comes and goes in it. */
  readonly caches: Map<WorkloadKind, WorkloadCache>;
  readonly cacheOf: (row: WorkloadRow) => WorkloadCache;
  readonly onListed?: (kind: string, namespace: string) => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
}

/**
 * Kinds of workload whose API need not be there: each is held from when it is found, and while it is there. Nothing else
 * waits for them. They are looked for in what the API server says that it serves, which needs no permission; to watch
 * CustomResourceDefinitions would need one in the whole cluster.
 */
export class ExtraKinds {
  readonly #options: ExtraKindsOptions;
  readonly #present = new Map<WorkloadKind, Present>();

  constructor(options: ExtraKindsOptions) {
    this.#options = options;
  }

  /** Those of all kinds of workload that are there, the built-in ones too. */
  rows(): readonly WorkloadRow[] {
    if (this.#present.size === 0) return builtInKinds;
    return [...builtInKinds, ...this.#present.values().map(({ row }) => row)];
  }

  /** Of those that are there. */
  caches(): readonly WorkloadCache[] {
    return [...this.#present.values().map(({ cache }) => cache)];
  }

  /** One line for each that is there and cannot be listed. */
  notes(): readonly string[] {
    return [...this.#present.values().flatMap(({ problems }) => problems.values())];
  }

  /** See {@link KindCache.relist}; what cannot be listed at all is, from the beginning, as soon as it can. */
  async relist(namespace: string, list: ListNamespace, signal: AbortSignal): Promise<boolean> {
    for (const { cache, problems } of this.#present.values()) {
      const isUnlisted = problems.size > 0 && !cache.isListed(namespace);
      if (!isUnlisted && !(await cache.relist(namespace, list, signal))) return false;
    }
    return true;
  }

  /** Looks for each and holds it while it is there, until the signal. Rejects only for a bug. */
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
    for (let looks = 0; !signal.aborted; looks++) {
      let waitMs = lookEveryMs;
      try {
        const row = await find(signal);
        if (failures > 0) log.info("it can be told again whether a kind of workload is there", { kind: id });
        [failures, misses] = [0, row === undefined ? misses + 1 : 0];
        const before = running?.row;
        const isAnother = row !== undefined && (row.apiVersion !== before?.apiVersion || row.kind !== before.kind);
        if (isAnother || (running !== undefined && misses === missesUntilGone)) await end();
        if (row !== undefined && running === undefined) running = begin(row);
        else if (row === undefined && looks === 0)
          log.info("a kind of workload is not there; looking again every 30 s", { kind: id });
      } catch (error) {
        if (signal.aborted) break;
        if (!isApiFailure(error)) throw error;
        const level = failures === 0 ? "warn" : "debug";
        log[level]("cannot tell whether a kind of workload is there; trying again", {
          kind: id,
          error: errorText(error),
        });
        waitMs = Math.max(retryAfterMs(error), backoffMs(failures++, { ...retries, random }));
      }
      // Rejects only when the signal is aborted, which the loop sees for itself.
      await sleep(clock, waitMs, signal).catch(() => {});
    }
    await running?.ended;
  }

  /** Holds a kind from now on; `broken` is told of a bug. */
  #begin(row: WorkloadRow, watch: Watch, signal: AbortSignal, broken: (error: unknown) => void): Running {
    const { caches, cacheOf, log, onListed } = this.#options;
    const over = new AbortController();
    const problems = new Map<string, string>();
    const cache = cacheOf(row);
    caches.set(row.id, cache);
    this.#present.set(row.id, { row, cache, problems });
    log.info("found a kind of workload", { kind: row.id, apiVersion: row.apiVersion });
    const until = AbortSignal.any([signal, over.signal]);
    const runs = cache.run(watch, until, {
      listed: (namespace) => {
        problems.delete(namespace);
        onListed?.(row.id, namespace);
      },
      failed: (namespace, why) => problems.set(namespace, why),
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
        log.info("a kind of workload is there no longer", { kind: row.id, apiVersion: row.apiVersion });
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
