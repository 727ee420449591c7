/**
 * Has V8 collect what was read before whenever that is many bytes. By itself it looks for it after many times as much, and on a busy machine
 * later still, because it does most of that beside this thread: docs/adr/0007-memory.md.
 */
export class GarbageCollection {
  readonly #afterBytes: number;
  readonly #collect: () => void;
  /** Bytes since the last collection. */
  #read = 0;

  /** Collects after so many bytes. Default of `collect`: V8's own, where it is exposed. */
  constructor(afterBytes: number, collect: () => void = globalThis.gc ?? (() => {})) {
    this.#afterBytes = afterBytes;
    this.#collect = collect;
  }

  /** To be called before `bytes` more are read or parsed. */
  beforeReading(bytes: number): void {
    if (this.#read + bytes > this.#afterBytes) {
      this.#collect();
      this.#read = 0;
    }
    this.#read += bytes;
  }
}
