interface Waiting {
  readonly begin: () => void;
}

/** Runs at most so many tasks at one time. Those that wait go round their groups, so that a group with many delays itself. */
export class FairTurns {
  readonly #atOnce: number;
  #running = 0;
  /** By group, the one whose turn it is first. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** Runs the task when it is its turn, and settles as it does. */
  async run<T>(group: string, task: () => Promise<T>): Promise<T> {
    if (this.#running < this.#atOnce) this.#running++;
    else await this.#turn(group);
    try {
      return await task();
    } finally {
      this.#end();
    }
  }

  #turn(group: string): Promise<void> {
    return new Promise((begin) => {
      const waiting = this.#waiting.get(group);
      if (waiting) waiting.push({ begin });
      else this.#waiting.set(group, [{ begin }]);
    });
  }

  #end(): void {
    const [group, waiting] = this.#waiting.entries().next().value ?? ["", []];
    const next = waiting.shift();
    if (next === undefined) {
      this.#running--;
      return;
    }
    this.#waiting.delete(group);
    if (waiting.length > 0) this.#waiting.set(group, waiting);
    next.begin();
  }
}
