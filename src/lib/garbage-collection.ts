/**
 * Runs the garbage collection of V8 after a number of bytes was read. V8 itself collects after many times as much, and even later
 * on a busy machine, because it does most of the work in other threads: contributing/adr/0007-memory.md.
 */
export class GarbageCollection {
  readonly #afterBytes: number;
  readonly #collect: () => void;
  /** Bytes since the last collection. */
  #read = 0;

  /** Collects after `afterBytes`. Default of `collect`: the function of V8, if exposed. */
  constructor(afterBytes: number, collect: () => void = globalThis.gc ?? (() => {})) {
    this.#afterBytes = afterBytes;
    this.#collect = collect;
  }

  /** Call this before `bytes` more are read or parsed. */
  beforeReading(bytes: number): void {
    if (this.#read + bytes > this.#afterBytes) {
      this.#collect();
      this.#read = 0;
    }
    this.#read += bytes;
  }
}
