import type { Random } from "./random.ts";

/** What the server makes of a path and its query where it may. */
export function pathAsTaken(
  path: string,
  options: { readonly doubled: boolean; readonly forgotten: number; readonly random: Random },
): string {
  const { doubled, forgotten, random } = options;
  // However many a client asks for at most, pages may be smaller.
  if (path.includes("limit=")) return path.replace(/([?&]limit=)\d+/, `$1${random.pick([2, 5, 500])}`);
  if (!doubled) return path;
  // A watch begins where it was some writes before, as far as these are remembered; never after where it asks to begin.
  return path.replace(/([?&]resourceVersion=)(\d+)/, (_, name, revision) => {
    const before = Math.max(1, forgotten, Number(revision) - random.whole(1, 8));
    return name + Math.min(before, Number(revision));
  });
}
