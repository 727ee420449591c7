import type { Clock } from "../../lib/clock.ts";
import { backoffMs } from "../../runtime/backoff.ts";
import { WorkQueue } from "../../runtime/work-queue.ts";
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
const retries = { baseMs: 500, maxMs: 30_000 };

/**
 * Lists the workloads of a namespace again, beside the watches, when it is another question whether they have opted in: of
 * those that had not, nothing is held. Whoever may edit a Namespace does not make Wave list any other by that, nor their
 * own all the time.
 */
export class NamespaceLists {
  readonly #lists: () => Iterable<List>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #random: () => number;
  readonly #queue: WorkQueue;
  /** Until when each is left alone that was listed lately. */
  readonly #restsUntil = new Map<string, number>();
  /** How often each failed since it last could be listed. */
  readonly #failures = new Map<string, number>();

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
    this.#random = options.random;
    this.#queue = new WorkQueue({ clock: options.clock, flowOf: (namespace) => namespace });
  }

  /** Asks for a namespace to be listed: at once, or when it has rested. */
  request(namespace: string): void {
    this.#queue.add(namespace, { delayMs: this.#restMs(namespace) });
  }

  /** Lists what is asked for until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const close = () => this.#queue.close();
    signal.addEventListener("abort", close, { once: true });
    if (signal.aborted) close();
    await Promise.all(Array.from({ length: atOnce }, () => this.#work(signal)));
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (let namespace = await this.#queue.get(); namespace !== undefined; namespace = await this.#queue.get()) {
      // It may have been asked for while it was being listed.
      const restMs = this.#restMs(namespace);
      const againMs = restMs > 0 ? restMs : await this.#list(namespace, signal);
      if (againMs !== undefined) this.#queue.add(namespace, { delayMs: againMs });
      this.#queue.done(namespace);
    }
  }

  /** In how many milliseconds it is to be tried again; undefined: not, it is listed. */
  async #list(namespace: string, signal: AbortSignal): Promise<number | undefined> {
    const begin = this.#clock.monotonic();
    const costMs = () => pauseFactor * (this.#clock.monotonic() - begin);
    try {
      for (const list of this.#lists()) if (!(await list(namespace, signal))) return Math.max(laterMs, costMs());
      this.#failures.delete(namespace);
      this.#rest(namespace, Math.max(pauseMs, costMs()));
      return undefined;
    } catch (error) {
      if (signal.aborted) return undefined;
      const failures = this.#failures.get(namespace) ?? 0;
      this.#failures.set(namespace, failures + 1);
      const level = failures === 0 ? "warn" : "debug";
      const message = "cannot list the workloads of a namespace that opted in or out; trying again";
      this.#log[level](message, { namespace, error: errorText(error) });
      return Math.max(backoffMs(failures, { ...retries, random: this.#random }), costMs());
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
