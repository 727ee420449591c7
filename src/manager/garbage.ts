import type { Clock } from "../lib/clock.ts";

/** By then the workloads that the first list brought are planned too. */
const afterMs = 10_000;

/**
 * Gives back, once, what reading and planning the whole cluster left behind: a few MiB, which would otherwise stay until
 * the heap has grown as much again. Takes some 20 ms. Does nothing where Node was started without `--expose-gc`. Returns
 * how to call it off.
 */
export function collectGarbageOnce(clock: Clock): () => void {
  return clock.timer(afterMs, () => void globalThis.gc?.({ type: "major", execution: "sync" }));
}
