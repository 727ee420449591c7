/**
 * Limits the number of concurrent operations; others wait in order of arrival. Each slot has memory that its next holder reuses: a
 * new buffer for each operation would be garbage that V8 does not collect in time.
 */
export class SlotPool {
  readonly #size: number;
  #created = 0;
  readonly #free: Slot[] = [];
  readonly #waiting = new Set<(slot: Slot) => void>();

  constructor(size: number) {
    this.#size = size;
  }

  /** Resolves to a slot, which must be disposed of once. Rejects if the signal is aborted first. */
  async acquire(signal: AbortSignal): Promise<Slot> {
    signal.throwIfAborted();
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#created >= this.#size) return this.#wait(signal);
    this.#created++;
    const slot: Slot = new Slot(() => this.#release(slot));
    return slot;
  }

  #wait(signal: AbortSignal): Promise<Slot> {
    const { promise, resolve, reject } = Promise.withResolvers<Slot>();
    const cancel = () => {
      this.#waiting.delete(grant);
      reject(signal.reason);
    };
    const grant = (slot: Slot) => {
      signal.removeEventListener("abort", cancel);
      resolve(slot);
    };
    signal.addEventListener("abort", cancel, { once: true });
    this.#waiting.add(grant);
    return promise;
  }

  #release(slot: Slot): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free.push(slot);
      return;
    }
    // Passed on directly, so that a new caller cannot take the slot first.
    this.#waiting.delete(next);
    next(slot);
  }
}

class Slot implements Disposable {
  readonly #leave: () => void;
  #memory = Buffer.alloc(0);

  constructor(leave: () => void) {
    this.#leave = leave;
  }

  /** Returns `length` bytes of unknown content, valid until the next call or until the slot is disposed of. */
  memory(length: number): Buffer {
    if (this.#memory.length < length) this.#memory = Buffer.allocUnsafeSlow(length);
    return this.#memory.subarray(0, length);
  }

  /** Passes the slot to the next caller. */
  [Symbol.dispose](): void {
    this.#leave();
  }
}
