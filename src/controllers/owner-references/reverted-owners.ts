/** How long to wait before what was undone is written again; doubles each time. */
const firstDelayMs = 1_000;
const longestDelayMs = 600_000;
/** A deletion may wait for it. */
const longestUrgentMs = 5_000;
/** Who is quiet for so long begins anew. */
const forgottenAfterMs = 2 * longestDelayMs;
/** From so many on it is told: two may be a person who changes their mind. */
const toldAfter = 4;

/** More are forgotten, those that were written longest ago first. */
const mostKeys = 20_000;
/** More are not told apart. */
const mostChanges = 10;

interface Record {
  /** The first changes. */
  readonly written: Set<string>;
  /** How often in a row something was written that had been written before. */
  streak: number;
  at: number;
}

/**
 * Who undoes what Wave writes, such as an operator that knows only its own owner references: what is to be written once
 * more waits longer and longer, so that two who disagree do not write as fast as they can. Times are in ms.
 */
export class Reverted {
  /** By key, those that were written longest ago first. */
  readonly #records = new Map<string, Record>();

  /** How long to wait before `changes` are written to an object, 0 where none of them was undone before; never long where it is urgent. */
  waitMs(key: string, changes: readonly string[], now: number, isUrgent = false): number {
    const record = this.#records.get(key);
    if (record === undefined || !changes.some((change) => record.written.has(change))) return 0;
    const delayMs = Math.min(isUrgent ? longestUrgentMs : longestDelayMs, firstDelayMs * 2 ** record.streak);
    return Math.max(0, record.at + delayMs - now);
  }

  /** They were written; true where it is to be told now that somebody undoes it again and again. */
  wrote(key: string, changes: readonly string[], now: number): boolean {
    this.#forgetQuiet(now);
    const record = this.#records.get(key) ?? { written: new Set(), streak: 0, at: now };
    const again = changes.some((change) => record.written.has(change));
    for (const change of changes) {
      if (record.written.size === mostChanges) break;
      record.written.add(change);
    }
    if (again) record.streak++;
    record.at = now;
    this.#records.delete(key);
    this.#records.set(key, record);
    return again && record.streak === toldAfter;
  }

  #forgetQuiet(now: number): void {
    for (const [key, { at }] of this.#records) {
      if (now - at < forgottenAfterMs && this.#records.size < mostKeys) return;
      this.#records.delete(key);
    }
  }
}
