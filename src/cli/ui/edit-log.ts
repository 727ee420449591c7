import type { Config } from "../../domain/config/digest.ts";
import { editedAt, type ReadConfig, type ReadConfigs } from "../cluster/read/configs.ts";
import { hasSameKeys, keyChanges } from "../cluster/timeline/revisions.ts";

/** The keys that an edit of an object changed. */
interface SeenEdit {
  /** When the object was edited, in seconds since the epoch. */
  readonly at: number | undefined;
  readonly keys: readonly string[];
}

/**
 * Remembers which keys the last edit of each object changed, from two readings in a row. The API has no earlier content, so of edits
 * before the first reading, only the keys are known that their field managers show. Keeps digests only.
 */
export class EditLog {
  readonly #last = new Map<string, Config>();
  readonly #edits = new Map<string, SeenEdit>();

  /** Compares what was read with the reading before. */
  take(read: ReadConfigs): void {
    for (const [key, found] of read) {
      if (found.state === "absent") {
        this.#last.delete(key);
        this.#edits.delete(key);
      }
      if (found.state !== "present") continue;
      const { config } = found;
      const before = this.#last.get(key);
      if (before !== undefined && before.digests === config.digests && before.keys.length === config.keys.length)
        continue;
      this.#last.set(key, config);
      if (before === undefined || before.limitExceeded || config.limitExceeded) continue;
      const changes = keyChanges(before, config);
      if (hasSameKeys(changes)) continue;
      const keys = [...changes.changed, ...changes.added, ...changes.removed].sort();
      this.#edits.set(key, { at: editedAt(found), keys });
    }
  }

  /** Returns the keys that the last edit of an object changed; empty if that is not known. */
  keysOf(key: string, found: ReadConfig | undefined): readonly string[] {
    if (found?.state !== "present") return [];
    const edit = this.#edits.get(key);
    if (edit !== undefined && edit.at === editedAt(found)) return edit.keys;
    const { editedKey } = found.config;
    return editedKey === undefined ? [] : [editedKey.name];
  }
}
