/**
 * Maximum size of an object in JSON, in bytes. The API server stores at most 1.5 MiB, and a control character takes six bytes
 * in JSON.
 */
export const maxObjectBytes = 12 * 1024 * 1024;

const minBufferBytes = 64 * 1024;
/** Number of small results in a row after which the memory of a large one is released. */
const smallResultsUntilShrink = 100;

/**
 * Joins chunks in memory that is reused. A new buffer for each large object would be garbage that V8 does not collect in
 * time. Holds at most {@link maxObjectBytes}.
 */
export class ChunkBuffer implements Disposable {
  #buffer = Buffer.alloc(0);
  #length = 0;
  /** The bytes of the buffer that are not overwritten yet. */
  #used = 0;
  #small = 0;

  /** Returns at most the last `count` bytes as latin1 text. */
  tail(count: number): string {
    return this.#buffer.toString("latin1", Math.max(0, this.#length - count), this.#length);
  }

  /** Appends a copy of the bytes. @throws RangeError if the result exceeds {@link maxObjectBytes}. */
  append(bytes: Buffer): void {
    const length = this.#length + bytes.length;
    if (length > maxObjectBytes) throw new RangeError(`the object exceeds ${maxObjectBytes / 1024 / 1024} MiB`);
    if (length > this.#buffer.length) {
      const size = Math.min(maxObjectBytes, Math.max(minBufferBytes, 2 * this.#buffer.length, length));
      const larger = Buffer.allocUnsafeSlow(size);
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer.fill(0);
      this.#buffer = larger;
    }
    bytes.copy(this.#buffer, this.#length);
    this.#length = length;
    this.#used = Math.max(this.#used, length);
  }

  /** Overwrites everything that was appended, because it may be a Secret, and starts again. */
  clear(): void {
    this.#buffer.fill(0, 0, this.#used);
    this.#used = 0;
    this.#length = 0;
  }

  [Symbol.dispose](): void {
    this.clear();
  }

  /** Returns everything that was appended plus `last`, and starts again. The result is valid until the next `append` or `clear`. */
  take(last: Buffer): Buffer {
    if (this.#length === 0) return last;
    this.append(last);
    const whole = this.#buffer.subarray(0, this.#length);
    this.#small = this.#length < this.#buffer.length / 4 ? this.#small + 1 : 0;
    if (this.#small > smallResultsUntilShrink) {
      this.#buffer = Buffer.alloc(0);
      this.#used = 0;
    }
    this.#length = 0;
    return whole;
  }
}
