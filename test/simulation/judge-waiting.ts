import { standsFor } from "./model-search.ts";
import { namespaceOf, storedWhenRight } from "./model-stored.ts";
import { isOutOfSight, namedBy, optedIn, workloadResources } from "./model-workload.ts";
import type { Recording, StoredObject } from "./record.ts";

/** The reasons of the Events that report a missing required object. */
const ofWaiting = ["ConfigMissing", "SchedulingDisabled"];
/** Other holds, such as a scheduling hold that is only observed, are part of the same Event. */
const ofHeld = "RolloutHeld";

/**
 * Judges reports of waiting: if nothing was missing at one moment at which everything was correct, and something is missing
 * at the next, an Event of the workload reported it in between.
 */
export function judgeWaiting(run: Recording): readonly string[] {
  const { settings, history, unlisted } = run;
  const violations: string[] = [];
  let since = Number.POSITIVE_INFINITY;
  let complete: ReadonlySet<string> = new Set();
  for (const { at, objects, find } of storedWhenRight(run)) {
    const asking = [...objects].filter(
      ([key, object]) =>
        workloadResources.includes(key.split("/")[0] ?? "") &&
        optedIn(object, settings, namespaceOf(object, objects)) &&
        !isOutOfSight(object, settings, unlisted),
    );
    const waits = ([, object]: readonly [string, StoredObject]) => standsFor(namedBy(object, settings), find).missing;
    for (const [key, { metadata }] of asking.filter(waits)) {
      if (complete.has(metadata.uid) && !isTold(metadata.uid, since, at)) {
        violations.push(`waiting: ${key} began to wait before ${at} ms, and nobody was told`);
      }
    }
    complete = new Set(asking.filter((one) => !waits(one)).map(([, { metadata }]) => metadata.uid));
    since = at;
  }
  return violations;

  function isTold(uid: string, from: number, to: number): boolean {
    return history.some(({ resource, at, after }) => {
      if (resource !== "events" || at <= from || at > to || after === undefined) return false;
      const {
        involvedObject,
        reason = "",
        message = "",
      } = after as {
        readonly involvedObject?: { readonly uid?: string };
        readonly reason?: string;
        readonly message?: string;
      };
      if (involvedObject?.uid !== uid) return false;
      return ofWaiting.includes(reason) || (reason === ofHeld && message.includes("waiting for "));
    });
  }
}
