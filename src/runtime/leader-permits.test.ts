import { describe, expect, it } from "vitest";
import { namespaceOf } from "../domain/model/workload-key.ts";
import type { Clock } from "../lib/clock.ts";
import { LeaderPermits } from "./leader-permits.ts";
import { soleLeadership } from "./leadership.ts";
import { TokenBucket } from "./token-bucket.ts";

/** Returns a clock that advances by a millisecond with each reading, as the clock of a busy machine may. */
function advancingClock(): Clock {
  let now = 0;
  const timer = (ms: number, callback: () => void) => {
    const fires = setImmediate(() => {
      now += ms;
      callback();
    });
    return () => clearImmediate(fires);
  };
  return { wall: () => now++, monotonic: () => now++, timer };
}

describe("permits of a leader", () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    "are not lost if they are granted during the request: one each %i ms",
    async (ms) => {
      const clock = advancingClock();
      const end = new AbortController();
      const tokens = new TokenBucket({ clock, perSecond: 1000 / ms, burst: 1 });
      const permits = new LeaderPermits({ clock, tokens, leadership: soleLeadership(end.signal), flowOf: namespaceOf });
      let taken = 0;
      const takeAll = async () => {
        for (let key = 0; key < 20; key++) if (await permits.take(`Deployment/shop/${key}`)) taken++;
      };
      const all = takeAll();
      // Long enough for 20 timers. The end of the leadership ends the wait for a lost permit.
      for (let turn = 0; turn < 100; turn++) await new Promise((next) => setImmediate(next));
      end.abort();
      await all;
      expect(taken).toBe(20);
    },
  );
});
