import type { Due } from "./due.ts";
import type { Hold } from "./hold.ts";

/** An annotation that says when to roll cannot be read: whoever wrote it did not want a roll at any time. */
export function invalid(_due: Due): Hold | undefined {
  return undefined;
}

/** Only told, by `mode: observe` or `--observe`. */
export function observed(_due: Due): Hold | undefined {
  return undefined;
}

/** `hold: "true"` on the workload, its Namespace, or on all objects that changed. */
export function hold(_due: Due): Hold | undefined {
  return undefined;
}

/** `mode: approve`, and this hash is not approved. */
export function approval(_due: Due): Hold | undefined {
  return undefined;
}

/** Outside of its window. */
export function window(_due: Due): Hold | undefined {
  return undefined;
}
