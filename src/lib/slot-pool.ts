/**
 * Lets so many through at once; the others wait in the order in which they came. Each place has memory of its own, which
 * whoever takes it next has again: a buffer for each would be garbage that nobody collects in time.
 */
export class SlotPool {
  readonly #room: number;
  #made = 0;
  readonly #free: Slot[] = [];
  readonly #waiting = new Set<(place: Slot) => void>();

  constructor(room: number) {
    this.#room = room;
  }

  /** Resolves with a place when it is its turn; that must be disposed of once. Rejects when given up. */
  async acquire(signal: AbortSignal): Promise<Slot> {
    signal.throwIfAborted();
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#made >= this.#room) return this.#wait(signal);
    this.#made++;
    const place: Slot = new Slot(() => this.#leave(place));
    return place;
  }

  #wait(signal: AbortSignal): Promise<Slot> {
    const { promise, resolve, reject } = Promise.withResolvers<Slot>();
    const giveUp = () => {
      this.#waiting.delete(begin);
      reject(signal.reason);
    };
    const begin = (place: Slot) => {
      signal.removeEventListener("abort", giveUp);
      resolve(place);
    };
    signal.addEventListener("abort", giveUp, { once: true });
    this.#waiting.add(begin);
    return promise;
  }

  #leave(place: Slot): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free.push(place);
      return;
    }
    // It is handed over, so that nobody who comes now gets in between.
    this.#waiting.delete(next);
    next(place);
  }
}

/** A place in a lane. */
class Slot implements Disposable {
  readonly #leave: () => void;
  #memory = Buffer.alloc(0);

  constructor(leave: () => void) {
    this.#leave = leave;
  }

  /** So many bytes, of unknown content, until the place is left or this is asked again. */
  memory(length: number): Buffer {
    if (this.#memory.length < length) this.#memory = Buffer.allocUnsafeSlow(length);
    return this.#memory.subarray(0, length);
  }

  /** Leaves it to the next. */
  [Symbol.dispose](): void {
    this.#leave();
  }
}
