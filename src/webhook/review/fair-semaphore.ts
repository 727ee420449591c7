interface WaitingTask {
  readonly start: () => void;
}

/** Limits the number of concurrent tasks. Waiting tasks start round-robin by group, so a group with many tasks delays only itself. */
export class FairSemaphore {
  readonly #limit: number;
  #running = 0;
  /** Waiting tasks by group. The first group is next. */
  readonly #waiting = new Map<string, WaitingTask[]>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Runs the task when a place is free, and settles like the task. */
  async run<T>(group: string, task: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limit) this.#running++;
    else await this.#wait(group);
    try {
      return await task();
    } finally {
      this.#release();
    }
  }

  #wait(group: string): Promise<void> {
    return new Promise((start) => {
      const waiting = this.#waiting.get(group);
      if (waiting) waiting.push({ start });
      else this.#waiting.set(group, [{ start }]);
    });
  }

  #release(): void {
    const [group, waiting] = this.#waiting.entries().next().value ?? ["", []];
    const next = waiting.shift();
    if (next === undefined) {
      this.#running--;
      return;
    }
    this.#waiting.delete(group);
    if (waiting.length > 0) this.#waiting.set(group, waiting);
    next.start();
  }
}
