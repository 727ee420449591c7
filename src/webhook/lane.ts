/** Lets so many through at once; the others wait in the order in which they came. */
export class Lane {
  readonly #room: number;
  #inside = 0;
  readonly #waiting = new Set<() => void>();

  constructor(room: number) {
    this.#room = room;
  }

  /** Resolves when it is its turn; the function that it gives must be called once at the end. Rejects when given up. */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#inside < this.#room) this.#inside++;
    else await this.#wait(signal);
    return () => this.#leave();
  }

  #wait(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = () => {
      this.#waiting.delete(begin);
      reject(signal.reason);
    };
    const begin = () => {
      signal.removeEventListener("abort", giveUp);
      resolve();
    };
    signal.addEventListener("abort", giveUp, { once: true });
    this.#waiting.add(begin);
    return promise;
  }

  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#inside--;
      return;
    }
    // Its place is handed over, so that nobody who comes now gets in between.
    this.#waiting.delete(next);
    next();
  }
}
