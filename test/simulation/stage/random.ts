/** Numbers that depend on a seed alone (sfc32 behind a hash of the seed). */
export class Random {
  readonly #name: string;
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** Streams of other names are independent: one part that draws more changes nothing for the others. */
  constructor(seed: number, name = "") {
    this.#name = `${seed}/${name}`;
    [this.#a, this.#b, this.#c] = hashed(this.#name);
    for (let index = 0; index < 12; index++) this.next();
  }

  /** A stream of its own for a part. */
  stream(name: string): Random {
    const stream = new Random(0, `${this.#name}/${name}`);
    return stream;
  }

  /** From 0 up to 1. */
  readonly next = (): number => {
    const t = (((this.#a + this.#b) | 0) + this.#counter++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (this.#c << 21) | (this.#c >>> 11);
    this.#c = (this.#c + t) | 0;
    return (t >>> 0) / 2 ** 32;
  };

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** From `low` up to `high`. */
  between(low: number, high: number): number {
    return low + (high - low) * this.next();
  }

  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number {
    return low + Math.floor((high - low + 1) * this.next());
  }

  /** Waiting times that average to `mean`, as between things that happen independently. */
  exponential(mean: number): number {
    return -mean * Math.log(1 - this.next());
  }

  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T {
    const item = list[Math.floor(this.next() * list.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  }
}

/** Three numbers of 32 bits out of a text (FNV-1a with another basis each). */
function hashed(text: string): [number, number, number] {
  const numbers = [0x811c9dc5, 0x01000193, 0x9e3779b9].map((basis) => {
    let hash = basis;
    for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
    return hash;
  });
  return numbers as [number, number, number];
}
