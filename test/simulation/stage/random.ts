/** Generates numbers that depend only on a seed (sfc32 after a hash of the seed). */
export class Random {
  readonly #name: string;
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** Streams with different names are independent: if one part draws more numbers, the others do not change. */
  constructor(seed: number, name = "") {
    this.#name = `${seed}/${name}`;
    [this.#a, this.#b, this.#c] = hashed(this.#name);
    for (let index = 0; index < 12; index++) this.next();
  }

  /** Returns a separate stream for a part. */
  stream(name: string): Random {
    const stream = new Random(0, `${this.#name}/${name}`);
    return stream;
  }

  /** Returns a number from 0 up to 1 (excluded). */
  readonly next = (): number => {
    const t = (((this.#a + this.#b) | 0) + this.#counter++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (this.#c << 21) | (this.#c >>> 11);
    this.#c = (this.#c + t) | 0;
    return (t >>> 0) / 2 ** 32;
  };

  /** Returns true with this probability. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Returns a number from `low` up to `high`. */
  between(low: number, high: number): number {
    return low + (high - low) * this.next();
  }

  /** Returns a whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number {
    return low + Math.floor((high - low + 1) * this.next());
  }

  /** Returns a waiting time with this mean, as between independent events. */
  exponential(mean: number): number {
    return -mean * Math.log(1 - this.next());
  }

  /** Returns one element of a list that is not empty. */
  pick<T>(list: readonly T[]): T {
    const item = list[Math.floor(this.next() * list.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  }
}

/** Returns three 32-bit numbers from a text (FNV-1a, each with another basis). */
function hashed(text: string): [number, number, number] {
  const numbers = [0x811c9dc5, 0x01000193, 0x9e3779b9].map((basis) => {
    let hash = basis;
    for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
    return hash;
  });
  return numbers as [number, number, number];
}
