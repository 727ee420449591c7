import { isReturn } from "./judge-returns.ts";
import { hasOutgrownCopies } from "./model-pins.ts";
import { isApproved, NamespaceTimeline, openBetween, type SaidOf, saidOf } from "./model-policy.ts";
import { knownSince, type WaveWrite, waveWriteOf } from "./model-rolls.ts";
import { recordedHash } from "./model-workload.ts";
import type { Recording } from "./record.ts";

/** A write that was decided in time may arrive this long after its window closes, and clocks have whole seconds. */
const onTheWayMs = 2_000;

/**
 * Judges holds. Wave writes nothing if it only observes, and rolls no workload that is held by people, by an unreadable
 * value, by a missing approval, or outside its window. A return needs no approval. A window does not hold a pod template that reads keys which its copies lack. The annotations of the workload are judged as they were when the
 * write was stored, because the write tests them. The annotations of the Namespace may be known late, so a write is
 * allowed if any recent state of the Namespace allows it.
 */
export function judgeHolds(run: Recording): readonly string[] {
  const { pacing } = run.settings;
  if (pacing === undefined) return [];
  const namespaces = new NamespaceTimeline(run.history);
  return run.history.flatMap((entry) => {
    const write = waveWriteOf(entry, run);
    if (write === undefined) return [];
    const { sentAt, before, what } = write;
    const states = namespaces.between(before.metadata.namespace, knownSince(write, run), sentAt);
    const isApprovedBefore = isReturn(entry, run);
    const held = states.map((namespace) => heldBy(write, saidOf(before, namespace, pacing), run, isApprovedBefore));
    return held.includes(undefined) ? [] : [`hold: ${what}: ${held.at(-1)}`];
  });
}

function heldBy(write: WaveWrite, said: SaidOf, run: Recording, isApprovedBefore: boolean): string | undefined {
  const { kind, after, sentAt, wallOffMs } = write;
  if (said.observes) return "it wrote what was only to be told";
  if (kind === "quiet") return undefined;
  if (said.holds) return "it rolled what is held";
  if (!isApprovedBefore && !isApproved(said, recordedHash(after))) return "it rolled what nobody has approved";
  const [from, to] = [sentAt - wallOffMs - onTheWayMs, sentAt + wallOffMs];
  if (openBetween(said.window, run.epoch + from, run.epoch + to).some || hasOutgrownCopies(write, run))
    return undefined;
  return `it rolled outside of "${said.window}"`;
}

/** Returns the hold by people that excuses a workload that is not rolled at a moment; undefined if there is none. */
export function excuseOf(
  said: SaidOf,
  { hash, at, wallOffMs }: { readonly hash: string | undefined; readonly at: number; readonly wallOffMs: number },
): string | undefined {
  if (said.observes) return "observed";
  if (said.holds) return "hold";
  if (!isApproved(said, hash)) return "approval";
  if (!openBetween(said.window, at - wallOffMs - onTheWayMs, at + wallOffMs).some) return "window";
  const long = 300_000;
  return openBetween(said.window, at - wallOffMs - long, at + wallOffMs).all ? undefined : "window of a while ago";
}
