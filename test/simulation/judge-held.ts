import { excuseIn } from "./judge-excuses.ts";
import { standsFor } from "./model-search.ts";
import { namespaceOf, storedWhenRight } from "./model-stored.ts";
import { hasSchedulingHold, isOutOfSight, namedBy, optedIn, readHash, workloadResources } from "./model-workload.ts";
import type { Recording } from "./record.ts";

/** The holds that people must know, because they do not end soon by themselves. */
const toBeTold = ["observed", "hold", "approval", "window", "hold of an object"];

/**
 * Judges reports of holds: an owner gets an Event if the workload was not held at one moment at which everything was correct
 * and is held at the next, and nothing went wrong with Events.
 */
export function judgeHeld(run: Recording): readonly string[] {
  const { settings, history, unlisted } = run;
  if (settings.pacing === undefined) return [];
  const violations: string[] = [];
  let before: Set<string> | undefined;
  for (const stored of storedWhenRight(run)) {
    const held = new Set<string>();
    for (const [key, workload] of stored.objects) {
      if (!workloadResources.includes(key.split("/")[0] ?? "") || hasSchedulingHold(workload)) continue;
      if (!optedIn(workload, settings, namespaceOf(workload, stored.objects))) continue;
      if (isOutOfSight(workload, settings, unlisted)) continue;
      const { hash, missing } = standsFor(namedBy(workload, settings), stored.find);
      if (missing || hash === undefined || hash === readHash(workload)) continue;
      const excuse = excuseIn(stored, run, workload, hash);
      const { uid } = workload.metadata;
      if (excuse === undefined || !toBeTold.includes(excuse)) continue;
      held.add(uid);
      if (before === undefined || before.has(uid) || isTold(uid, stored.at)) continue;
      violations.push(`held: ${key} is held at ${stored.at} ms (${excuse}), and nobody was told`);
    }
    before = held;
  }
  return violations;

  function isTold(uid: string, to: number): boolean {
    return history.some(({ resource, at, after }) => {
      if (resource !== "events" || at > to || after === undefined) return false;
      const { involvedObject, reason = "" } = after as {
        readonly involvedObject?: { readonly uid?: string };
        readonly reason?: string;
      };
      return involvedObject?.uid === uid && reason === "RolloutHeld";
    });
  }
}
