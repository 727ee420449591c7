import type { ObjectEvent } from "../../kube/events/event-object.ts";

/** The remembered groups: tenants decide how many there are. */
const mostRemembered = 1_000;

/** Returns a function that reports whether an Event is the first one of its group: all workloads that one change halts are one message. */
export function onePerGroup(): (event: ObjectEvent) => boolean {
  const sent = new Set<string>();
  return ({ group }) => {
    if (group === undefined) return true;
    if (sent.has(group)) return false;
    const [oldest] = sent;
    if (sent.size >= mostRemembered && oldest !== undefined) sent.delete(oldest);
    sent.add(group);
    return true;
  };
}
