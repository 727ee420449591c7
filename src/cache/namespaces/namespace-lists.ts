import type { Clock } from "../../lib/clock.ts";
import { done, type Result } from "../../runtime/result.ts";
import { Workers } from "../../runtime/workers.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import type { Logger } from "../../telemetry/logging/log.ts";

/** What lists what there is of one kind in a namespace; false: it cannot just now, ask again. */
type List = (namespace: string, signal: AbortSignal) => Promise<boolean>;

/** How many namespaces are listed at once. */
const atOnce = 4;
/** A namespace is listed at most so often, and at most a tenth of the time. */
const pauseMs = 10_000;
const pauseFactor = 9;
/** Where it cannot be listed just now. */
const laterMs = 1_000;
const backoff = { baseMs: 500, retryMaxMs: 30_000 };

/**
 * Lists the workloads of a namespace again, beside the watches, when it is another question whether they have opted in: of
 * those that had not, nothing is held. Whoever may edit a Namespace does not make Wave list any other by that, nor their
 * own all the time.
 */
export class NamespaceLists {
  readonly #lists: () => Iterable<List>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #workers: Workers;
  /** When the lists end. Set by `run`. */
  #signal: AbortSignal | undefined;
  /** Until when each is left alone that was listed lately. */
  readonly #restsUntil = new Map<string, number>();

  constructor(options: {
    /** Asked each time: kinds come and go. */
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

  /** Asks for a namespace to be listed: at once, or when it has rested. */
  request(namespace: string): void {
    this.#workers.add(namespace, { delayMs: this.#restMs(namespace) });
  }

  /** Lists what is asked for until the signal. */
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
      const message = "cannot list the workloads of a namespace that opted in or out, will retry";
      this.#log[failures === 0 ? "warn" : "debug"](message, { namespace, error: errorText(error) });
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
