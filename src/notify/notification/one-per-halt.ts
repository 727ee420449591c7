import type { ObjectEvent } from "../../kube/events/event-object.ts";
import type { Clock } from "../../lib/clock.ts";

/** How long the same halt of other workloads is not sent again, in milliseconds. */
const repeatAfterMs = 600_000;
/** The remembered halts: tenants decide how many there are. */
const mostRemembered = 1_000;

/**
 * Returns a function that reports whether an Event is to be sent. All workloads that one change halts have Events with the same text,
 * and people need it once. The object that changed has an Event of its own.
 */
export function onePerHalt({ monotonic }: Pick<Clock, "monotonic">): (event: ObjectEvent) => boolean {
  const sentAt = new Map<string, number>();
  return ({ reason, regarding, message }) => {
    if (reason !== "RolloutHalted") return true;
    const key = `${regarding.namespace} ${message}`;
    const before = sentAt.get(key);
    if (before !== undefined && monotonic() - before < repeatAfterMs) return false;
    const [oldest] = sentAt.keys();
    if (sentAt.size >= mostRemembered && oldest !== undefined) sentAt.delete(oldest);
    sentAt.delete(key);
    sentAt.set(key, monotonic());
    return true;
  };
}
