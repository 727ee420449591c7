import { type Config, digestOf } from "../config/digest.ts";
import type { Reference } from "../references/references.ts";

/**
 * Reports whether a pinned copy has everything that `references` would read of its source. The copy was stored for `before`, and has only the
 * keys that those references read. All parameters are about the same ConfigMap.
 */
export function copyCovers(copy: Config, before: readonly Reference[], references: readonly Reference[]): boolean {
  return references.every(({ reads, keys }) => {
    if (reads === "existence" && keys === "all") return true;
    const hasAll = before.some((each) => each.keys === "all" && (each.reads === "files" || each.reads === reads));
    if (hasAll || keys === "all") return hasAll;
    // If the copy lacks a key that was read, its source did not have this key.
    const wasRead = (key: string) => before.some((each) => each.keys !== "all" && each.keys.includes(key));
    return keys.every((key) => digestOf(copy, key) !== undefined || wasRead(key));
  });
}
