import type { ConfigView, ViewEntry } from "../../../domain/config/hash.ts";
import { sharedString } from "../../../domain/syntax/json.ts";

/** The most entries of all views together: 8 MiB, at about 130 bytes each. */
const maxEntries = 65_536;
/** The entries that remain after the longest views were dropped. */
const remainingEntries = 49_152;
/** A view with more entries is not remembered. */
const maxViewEntries = 256;

/**
 * The last known view of each workload, by its key, so that a rollout can report what changed; without it a rollout only
 * reports that something changed. A view may have tens of thousands of keys, and a thousand workloads the same view, so the
 * total is bounded: the longest views are dropped first, of any owner.
 */
export class RememberedViews {
  readonly #views = new Map<string, ConfigView>();
  readonly #onDropped: () => void;
  /** A longer view has room only below {@link remainingEntries}: such views were dropped first. */
  #longest = maxViewEntries;
  #entries = 0;

  /** `onDropped` is called for each view for which there is no room. */
  constructor(onDropped: () => void) {
    this.#onDropped = onDropped;
  }

  /** The number of entries of all views, with their objects without keys. */
  get entries(): number {
    return this.#entries;
  }

  of(key: string): ConfigView | undefined {
    return this.#views.get(key);
  }

  /** Remembers a view instead of the one before. */
  remember(key: string, view: ConfigView): void {
    const before = this.#views.get(key);
    if (before?.hash === view.hash && sameObjects(before.emptyObjects, view.emptyObjects)) return;
    this.forget(key);
    const length = lengthOf(view);
    if (length > maxViewEntries || (length > this.#longest && this.#entries + length > remainingEntries)) {
      this.#onDropped();
      return;
    }
    this.#views.set(sharedString(key), {
      hash: sharedString(view.hash),
      entries: view.entries.map(copyOf),
      emptyObjects: view.emptyObjects && new Set(Array.from(view.emptyObjects, sharedString)),
    });
    this.#entries += length;
    if (this.#entries > maxEntries) this.#makeRoom();
  }

  forget(key: string): void {
    const view = this.#views.get(key);
    if (view === undefined) return;
    this.#entries -= lengthOf(view);
    this.#views.delete(key);
  }

  #makeRoom(): void {
    const longestFirst = [...this.#views].sort(([, a], [, b]) => lengthOf(b) - lengthOf(a));
    for (const [key, view] of longestFirst) {
      if (this.#entries <= remainingEntries) return;
      this.#longest = lengthOf(view) - 1;
      this.forget(key);
      this.#onDropped();
    }
  }
}

/** An object without keys counts as much as a key. */
function lengthOf({ entries, emptyObjects }: ConfigView): number {
  return entries.length + (emptyObjects?.size ?? 0);
}

const noObjects: ReadonlySet<string> = new Set();

function sameObjects(a = noObjects, b = noObjects): boolean {
  return a.size === b.size && a.isSubsetOf(b);
}

/**
 * Copies an entry. The digest is a slice of the digests of its whole object, which V8 would keep for it. A Buffer would
 * cost more than it saves. The fields are listed, because V8 keeps fields that are added after a spread in an array beside
 * the object, and so does each later spread.
 */
function copyOf({ kind, namespace, name, key, digest }: ViewEntry): ViewEntry {
  const copied = digest && String.fromCharCode(...Array.from(digest, (character) => character.charCodeAt(0)));
  return { kind, namespace, name, key, digest: copied };
}
