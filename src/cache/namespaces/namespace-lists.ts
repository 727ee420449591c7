import type { Clock } from "../../lib/clock.ts";
import { done, type Result } from "../../runtime/result.ts";
import { Workers } from "../../runtime/workers.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import { logMessages } from "../../telemetry/logging/log-messages.ts";

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
