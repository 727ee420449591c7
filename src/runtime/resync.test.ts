import { describe, expect, it } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { resync } from "./resync.ts";

function start(periodMs: number, keys: string[]) {
  const clock = new FakeClock();
  const stop = new AbortController();
  const enqueued: string[] = [];
  const done = resync({ periodMs, keys: () => keys, enqueue: (key) => enqueued.push(key), clock, signal: stop.signal });
  const end = () => {
    stop.abort();
    return done;
  };
  return { clock, enqueued, end };
}

describe("the periodic resync of all workloads", () => {
  it("processes each workload once a period, evenly spread over the period", async () => {
    const keys = Array.from({ length: 1_000 }, (_, index) => `Deployment/default/${index}`);
    const { clock, enqueued, end } = start(10_000, keys);
    await clock.advance(999);
    expect(enqueued).toHaveLength(0);
    for (let second = 1; second <= 10; second++) {
      await clock.advance(second === 1 ? 1 : 1_000);
      expect(enqueued).toHaveLength(second * 100);
    }
    expect(enqueued).toEqual(keys);
    await clock.advance(10_000);
    expect(enqueued).toEqual([...keys, ...keys]);
    await end();
  });

  it("processes workloads that were added later, when there were few or none", async () => {
    const keys: string[] = [];
    const { clock, enqueued, end } = start(60_000, keys);
    await clock.advance(60_000);
    keys.push("a", "b");
    await clock.advance(60_000);
    expect(enqueued).toEqual([]);
    await clock.advance(60_000);
    expect(enqueued).toEqual(["a", "b"]);
    await end();
  });

  it("is off with a period of 0, and leaves no timer behind when it ends", async () => {
    const off = start(0, ["a"]);
    await off.clock.advance(1_000_000);
    expect(off.enqueued).toEqual([]);
    await off.end();
    const on = start(1_000, ["a"]);
    await on.clock.advance(1);
    expect(on.clock.pending).toBe(1);
    await on.end();
    expect(on.clock.pending).toBe(0);
  });
});
