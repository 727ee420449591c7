import type { ConfigView, ViewEntry } from "../../../domain/config/hash.ts";
import { sharedString } from "../../../domain/syntax/shared-string.ts";
import type { WorkloadRecord } from "./workload-record.ts";

/** How many entries of views are remembered in all: of some 130 bytes each, 8 MiB. */
const mostEntries = 65_536;
/** How many remain where there were too many. */
const enoughEntries = 49_152;
/** A view that has more is not remembered. */
const longestView = 256;

/**
 * What each workload was last seen to see, so that a roll can say what changed; without it a roll says only that
 * something did. A workload may see tens of thousands of keys, and a thousand workloads the same, so there is a bound:
 * where it is reached, the longest views go first, whoever they belong to.
 */
export class RememberedViews {
  readonly #records: () => Iterable<WorkloadRecord>;
  readonly #onDropped: () => void;
  /** Of a longer view there is room only below {@link enoughEntries}: those were the first to go. */
  #longest = longestView;
  #entries = 0;

  /** `records` are all that may have a view; `onDropped` is called for each view that there is no room for. */
  constructor(records: () => Iterable<WorkloadRecord>, onDropped: () => void) {
    this.#records = records;
    this.#onDropped = onDropped;
  }

  /** How many entries are remembered. */
  get entries(): number {
    return this.#entries;
  }

  /** Remembers a view in the place of the one before. */
  remember(record: WorkloadRecord, view: ConfigView): void {
    if (record.view?.hash === view.hash) return;
    this.forget(record);
    const { length } = view.entries;
    if (length > longestView || (length > this.#longest && this.#entries + length > enoughEntries)) {
      this.#onDropped();
      return;
    }
    record.view = { hash: sharedString(view.hash), entries: view.entries.map(copyOf) };
    this.#entries += length;
    if (this.#entries > mostEntries) this.#makeRoom();
  }

  /** Remembers nothing of a workload. */
  forget(record: WorkloadRecord): void {
    this.#entries -= lengthOf(record);
    record.view = undefined;
  }

  #makeRoom(): void {
    for (const record of [...this.#records()].sort((a, b) => lengthOf(b) - lengthOf(a))) {
      if (this.#entries <= enoughEntries) return;
      this.#longest = lengthOf(record) - 1;
      this.forget(record);
      this.#onDropped();
    }
  }
}

function lengthOf({ view }: WorkloadRecord): number {
  return view?.entries.length ?? 0;
}

/**
 * A digest is a slice of those of its whole object, which V8 would keep for it. A Buffer would cost more than it saves.
 * Written out, because what an object got after a spread is kept in an array beside it, in each copy by a spread too.
 */
function copyOf({ kind, namespace, name, key, digest }: ViewEntry): ViewEntry {
  const copied = digest && String.fromCharCode(...Array.from(digest, (character) => character.charCodeAt(0)));
  return { kind, namespace, name, key, digest: copied };
}
