import { judgeAlerts } from "./judge-alerts.ts";
import { judgeBatches } from "./judge-batches.ts";
import { mixedAtEnd } from "./judge-containers.ts";
import { judgeEnd } from "./judge-end.ts";
import { judgeEvents } from "./judge-events.ts";
import { judgeHeld } from "./judge-held.ts";
import { judgeHolds } from "./judge-holds.ts";
import { judgeKeptPins } from "./judge-kept-pins.ts";
import { judgeTerms } from "./judge-leadership.ts";
import { judgeMixed } from "./judge-mixed.ts";
import { judgePace } from "./judge-pace.ts";
import { judgePins } from "./judge-pins.ts";
import { judgePlaces } from "./judge-places.ts";
import { judgeRecorded } from "./judge-recorded.ts";
import { judgeReplacements } from "./judge-replacements.ts";
import { judgeReturns } from "./judge-returns.ts";
import { judgeReviews } from "./judge-reviews.ts";
import { judgeSettling } from "./judge-settling.ts";
import { judgeStuck } from "./judge-stuck.ts";
import { judgeWaiting } from "./judge-waiting.ts";
import { judgeWrites } from "./judge-writes.ts";
import type { Recording } from "./record.ts";

/**
 * Returns the mistakes of Wave in a run, one line each; empty if there are none. The judge is written from README, ADR 2 and
 * docs/webhooks.md, and imports nothing of Wave, so that it cannot repeat a mistake of the code that it judges.
 */
export function judge(run: Recording): readonly string[] {
  return parts.flatMap((part) => part(run));
}

const parts = [
  judgeTerms,
  judgePlaces,
  judgeWrites,
  judgeReviews,
  judgeRecorded,
  judgeEvents,
  judgeWaiting,
  judgeHolds,
  judgeHeld,
  judgeMixed,
  mixedAtEnd,
  judgeReplacements,
  judgePace,
  judgePins,
  judgeKeptPins,
  judgeSettling,
  judgeBatches,
  judgeStuck,
  judgeReturns,
  judgeAlerts,
  judgeEnd,
];
