import type { Random } from "./random.ts";

/** Returns the path and query as the server interprets them within its freedom. */
export function pathAsTaken(
  path: string,
  options: { readonly doubled: boolean; readonly forgotten: number; readonly random: Random },
): string {
  const { doubled, forgotten, random } = options;
  // Pages may be smaller than the limit that a client requests.
  if (path.includes("limit=")) return path.replace(/([?&]limit=)\d+/, `$1${random.pick([2, 5, 500])}`);
  if (!doubled) return path;
  // A watch may start some writes earlier than requested, if the server remembers them, and never later.
  return path.replace(/([?&]resourceVersion=)(\d+)/, (_, name, revision) => {
    const before = Math.max(1, forgotten, Number(revision) - random.whole(1, 8));
    return name + Math.min(before, Number(revision));
  });
}
