/** The delay before a reverted write is sent again, in milliseconds. It doubles each time. */
const firstDelayMs = 1_000;
const longestDelayMs = 600_000;
/** The longest delay of a write for which a deletion may wait. */
const longestUrgentMs = 5_000;
/** After this time without a write, the record of an object is forgotten. */
const forgottenAfterMs = 2 * longestDelayMs;
/** After this many reverts, they are logged: two may be a person who changes their mind. */
const loggedAfter = 4;

/** The most objects. The ones that were written longest ago are forgotten first. */
const maxKeys = 20_000;
/** The most changes of one object. */
const maxChanges = 10;

interface WrittenObject {
  /** The first changes. */
  readonly written: Set<string>;
  /** The number of consecutive writes that repeat an earlier one. */
  repeats: number;
  at: number;
}

/**
 * Tracks writes that another client reverts, such as an operator that keeps only its own owner references. Each repeated
 * write waits longer, so that two clients that disagree do not write as fast as they can. Times are in milliseconds.
 */
export class RevertedWrites {
  /** By key, the ones that were written longest ago first. */
  readonly #records = new Map<string, WrittenObject>();

  /** Returns the delay before `changes` are written to an object: 0 if none was reverted before, and short if it is urgent. */
  waitMs(key: string, changes: readonly string[], now: number, isUrgent = false): number {
    const record = this.#records.get(key);
    if (record === undefined || !changes.some((change) => record.written.has(change))) return 0;
    const delayMs = Math.min(isUrgent ? longestUrgentMs : longestDelayMs, firstDelayMs * 2 ** record.repeats);
    return Math.max(0, record.at + delayMs - now);
  }

  /** Records a write of `changes`. Returns true if repeated reverts must be logged now. */
  wrote(key: string, changes: readonly string[], now: number): boolean {
    this.#forgetQuiet(now);
    const record = this.#records.get(key) ?? { written: new Set(), repeats: 0, at: now };
    const again = changes.some((change) => record.written.has(change));
    for (const change of changes) {
      if (record.written.size === maxChanges) break;
      record.written.add(change);
    }
    if (again) record.repeats++;
    record.at = now;
    this.#records.delete(key);
    this.#records.set(key, record);
    return again && record.repeats === loggedAfter;
  }

  #forgetQuiet(now: number): void {
    for (const [key, { at }] of this.#records) {
      if (now - at < forgottenAfterMs && this.#records.size < maxKeys) return;
      this.#records.delete(key);
    }
  }
}
