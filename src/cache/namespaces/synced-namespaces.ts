import type { Clock } from "../../lib/clock.ts";
import { done, type Result, Workers } from "../../runtime/workers.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import { errorText, logMessages } from "../../telemetry/logging/log-messages.ts";

/** The kinds that are not listed yet in a namespace, with the reason if a list failed. */
type UnlistedKinds = Map<string, string | undefined>;

const maxLines = 10;

/**
 * Tracks which namespaces are synced. A namespace that cannot be listed (it may not exist, or Wave lacks the permission) is
 * unsynced. Wave decides nothing about its workloads, nor about workloads that read configuration in it, because an object that
 * is missing here may exist. Lists are retried forever, and all other namespaces work meanwhile.
 */
export class SyncedNamespaces {
  /** By namespace. The key "" means all, if one watch has all. */
  readonly #unsynced: Map<string, UnlistedKinds>;
  readonly #count: number;

  constructor(namespaces: readonly string[], kinds: readonly string[]) {
    this.#unsynced = new Map(namespaces.map((name) => [name, new Map(kinds.map((kind) => [kind, undefined]))]));
    this.#count = this.#unsynced.size;
  }

  /** Records that a kind was listed. Returns true if it was the last one, so that the namespace is synced from now on. */
  listed(namespace: string, kind: string): boolean {
    const unlisted = this.#unsynced.get(namespace);
    if (unlisted === undefined) return false;
    unlisted.delete(kind);
    return unlisted.size === 0 && this.#unsynced.delete(namespace);
  }

  /** Records that a kind cannot be listed now. No effect if the kind was listed before. */
  failed(namespace: string, kind: string, reason: string): void {
    const unlisted = this.#unsynced.get(namespace);
    if (unlisted?.has(kind)) unlisted.set(kind, reason);
  }

  isUnsynced(namespace: string): boolean {
    return this.#unsynced.has(namespace);
  }

  unsynced(): Iterable<string> {
    return this.#unsynced.keys();
  }

  get allSynced(): boolean {
    return this.#unsynced.size === 0;
  }

  /** Reports whether each namespace is synced or has a failed list, and at least one is synced. */
  get isSettled(): boolean {
    // Asked after each list of each namespace, so it ends at the first that is neither.
    const hasFailed = (kinds: UnlistedKinds) => kinds.values().some((reason) => reason !== undefined);
    return this.#unsynced.size < this.#count && this.#unsynced.values().every(hasFailed);
  }

  get failureCount(): number {
    return this.#reasons().length;
  }

  /** Returns one line for each namespace with a failed list: at most 10, and the number of others. */
  lines(): readonly string[] {
    const all = this.#reasons();
    if (all.length <= maxLines) return all;
    return [...all.slice(0, maxLines), `and ${all.length - maxLines} more namespaces`];
  }

  /** Returns the first reason of each namespace with a failed list. */
  #reasons(): readonly string[] {
    return [...this.#unsynced.values()].flatMap((kinds) => kinds.values().find((each) => each !== undefined) ?? []);
  }
}

/** Lists one kind in a namespace. Resolves to false if that is not possible now: request it again. */
type List = (namespace: string, signal: AbortSignal) => Promise<boolean>;

/** Maximum number of namespaces that are listed concurrently. */
const atOnce = 4;
/** Minimum pause between two lists of a namespace, in milliseconds and as a multiple of the duration of the last list. */
const pauseMs = 10_000;
const pauseFactor = 9;
/** Delay before a namespace that cannot be listed now is listed again. */
const laterMs = 1_000;
const backoff = { baseMs: 500, retryMaxMs: 30_000 };

/**
 * Lists the workloads of a namespace again, while the watches continue, after the Namespace opted in or out: the caches do not hold
 * workloads that had not opted in. A user who may edit a Namespace cannot make Wave list other namespaces by that, nor this one
 * all the time.
 */
export class NamespaceLists {
  readonly #lists: () => Iterable<List>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #workers: Workers;
  /** When the lists end. Set by `run`. */
  #signal: AbortSignal | undefined;
  /** End of the pause of each recently listed namespace. */
  readonly #restsUntil = new Map<string, number>();

  constructor(options: {
    /** Called for each list, because kinds come and go. */
    readonly lists: () => Iterable<List>;
    readonly clock: Clock;
    readonly log: Logger;
    readonly random: () => number;
  }) {
    this.#lists = options.lists;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#workers = new Workers({
      clock: options.clock,
      random: options.random,
      workers: atOnce,
      flowOf: (namespace) => namespace,
      backoff,
      reconcile: (namespace, failures) => this.#list(namespace, failures),
    });
  }

  /** Requests a list of a namespace, immediately or after its pause. */
  request(namespace: string): void {
    this.#workers.add(namespace, { delayMs: this.#restMs(namespace) });
  }

  /** Lists requested namespaces until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    await this.#workers.run(signal);
  }

  async #list(namespace: string, failures: number): Promise<Result> {
    const signal = this.#signal;
    if (signal === undefined) return done;
    // The namespace may have been requested while it was listed.
    const restMs = this.#restMs(namespace);
    if (restMs > 0) return { type: "deferred", delayMs: restMs };
    const begin = this.#clock.monotonic();
    const costMs = () => pauseFactor * (this.#clock.monotonic() - begin);
    try {
      for (const list of this.#lists()) {
        if (!(await list(namespace, signal))) return { type: "deferred", delayMs: Math.max(laterMs, costMs()) };
      }
      this.#rest(namespace, Math.max(pauseMs, costMs()));
      return done;
    } catch (error) {
      if (signal.aborted) return done;
      this.#log[failures === 0 ? "warn" : "debug"](logMessages.namespaceNotListed, {
        namespace,
        error: errorText(error),
      });
      return { type: "retry", atLeastMs: costMs() };
    }
  }

  #rest(namespace: string, forMs: number): void {
    const now = this.#clock.monotonic();
    for (const [name, until] of this.#restsUntil) if (until <= now) this.#restsUntil.delete(name);
    this.#restsUntil.set(namespace, now + forMs);
  }

  #restMs(namespace: string): number {
    return Math.max(0, (this.#restsUntil.get(namespace) ?? 0) - this.#clock.monotonic());
  }
}
