/** A callback at a moment. */
interface Entry {
  readonly at: number;
  /** The order: for the same moment, the first request runs first. */
  readonly order: number;
  /** Undefined after it was cancelled or has run. */
  run: (() => void) | undefined;
  /** Whether nothing may have work to do after it. */
  readonly quiet: boolean;
}

/** More turns of the event loop than this without coming to rest are an endless loop. */
const maxTurns = 100_000;

/**
 * True virtual time in milliseconds, which no process sees. Callbacks run in order. Between two moments every promise and
 * every immediate of the real event loop runs until nothing is left to run.
 */
export class Scheduler {
  /** A heap: each entry runs before the two entries at twice its position. */
  readonly #heap: Entry[] = [];
  #order = 0;
  #now = 0;
  #happened = 0;

  get now(): number {
    return this.#now;
  }

  /** The number of callbacks that have run. */
  get happened(): number {
    return this.#happened;
  }

  /** Calls `run` in `ms` milliseconds. The returned function cancels the call. `quiet`: the callback resolves no promise. */
  after(ms: number, run: () => void, quiet = false): () => void {
    const entry: Entry = { at: this.#now + Math.max(0, ms), order: this.#order++, run, quiet };
    this.#push(entry);
    return () => {
      entry.run = undefined;
    };
  }

  /** Resolves in `ms` milliseconds. */
  readonly sleep = (ms: number): Promise<void> => new Promise((resolve) => void this.after(ms, resolve));

  /** Advances to the moment `until`. */
  async runUntil(until: number): Promise<void> {
    await rest();
    for (let next = this.#heap[0]; next !== undefined && next.at <= until; next = this.#heap[0]) {
      this.#pop();
      const { run } = next;
      if (run === undefined) continue;
      next.run = undefined;
      this.#now = next.at;
      this.#happened++;
      run();
      if (!next.quiet) await rest();
    }
    this.#now = until;
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let place = heap.length;
    heap.push(entry);
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || !before(entry, above)) break;
      heap[place] = above;
      place = parent;
    }
    heap[place] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      const right = heap[child + 1];
      let least = heap[child];
      if (least === undefined) break;
      if (right !== undefined && before(right, least)) {
        child++;
        least = right;
      }
      if (!before(least, last)) break;
      heap[place] = least;
      place = child;
    }
    heap[place] = last;
  }
}

function before(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/** Resolves when only callbacks at later virtual times are left. */
async function rest(): Promise<void> {
  for (let turn = 0; turn < maxTurns; turn++) {
    await new Promise<void>((resolve) => void setImmediate(resolve));
    if (!process.getActiveResourcesInfo().includes("Immediate")) return;
  }
  throw new Error(`the event loop has not come to rest within ${maxTurns} permits`);
}
