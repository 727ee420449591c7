import type { Scheduler } from "./scheduler.ts";

/** A record of a run, line by line, for a person who searches for a cause; also the proof that a seed always plays in the same way. */
export class Trace {
  readonly #scheduler: Scheduler;
  readonly #write: ((line: string) => void) | undefined;

  /** Without `write` no line is kept. */
  constructor(scheduler: Scheduler, write: ((line: string) => void) | undefined) {
    this.#scheduler = scheduler;
    this.#write = write;
  }

  /** Writes one line; `text` is called only if the line is kept. */
  line(who: string, text: () => string): void {
    this.#write?.(`${(this.#scheduler.now / 1000).toFixed(3).padStart(9)} ${who.padEnd(6)} ${text()}`);
  }
}
