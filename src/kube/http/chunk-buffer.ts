/**
 * The largest object that an API server can send: it stores at most 1.5 MiB, and as JSON a control character takes six
 * bytes.
 */
export const maxObjectBytes = 12 * 1024 * 1024;

const smallest = 64 * 1024;
/** After so many small pieces the room for a large one is given back. */
const smallOnesUntilShrunk = 100;

/**
 * Puts together what comes in pieces, in the same memory again and again: a buffer for each large object would be
 * garbage that nobody collects in time. Holds at most {@link maxObjectBytes}.
 */
export class ChunkBuffer {
  #buffer = Buffer.alloc(0);
  #length = 0;
  #small = 0;

  /** The last `count` bytes at most, one a character. */
  tail(count: number): string {
    return this.#buffer.toString("latin1", Math.max(0, this.#length - count), this.#length);
  }

  /** Adds bytes, which are copied. @throws RangeError where it would be longer than any object. */
  append(bytes: Buffer): void {
    const length = this.#length + bytes.length;
    if (length > maxObjectBytes)
      throw new RangeError(`what came is longer than any object: more than ${maxObjectBytes / 1024 / 1024} MiB`);
    if (length > this.#buffer.length) {
      const size = Math.min(maxObjectBytes, Math.max(smallest, 2 * this.#buffer.length, length));
      const larger = Buffer.allocUnsafeSlow(size);
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    bytes.copy(this.#buffer, this.#length);
    this.#length = length;
  }

  /** All that was added, with `last` at its end, and begins anew. Good until something is added again. */
  take(last: Buffer): Buffer {
    if (this.#length === 0) return last;
    this.append(last);
    const whole = this.#buffer.subarray(0, this.#length);
    this.#small = this.#length < this.#buffer.length / 4 ? this.#small + 1 : 0;
    if (this.#small > smallOnesUntilShrunk) this.#buffer = Buffer.alloc(0);
    this.#length = 0;
    return whole;
  }
}
