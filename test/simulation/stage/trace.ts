import type { Scheduler } from "./scheduler.ts";

/** What happened, line by line, for a person who looks for why; also the proof that a seed always plays the same. */
export class Trace {
  readonly #scheduler: Scheduler;
  readonly #write: ((line: string) => void) | undefined;

  /** Without `write` nothing is kept. */
  constructor(scheduler: Scheduler, write: ((line: string) => void) | undefined) {
    this.#scheduler = scheduler;
    this.#write = write;
  }

  /** One line; `text` is made only where somebody reads it. */
  line(who: string, text: () => string): void {
    this.#write?.(`${(this.#scheduler.now / 1000).toFixed(3).padStart(9)} ${who.padEnd(6)} ${text()}`);
  }
}
