import { describe, expect, it } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { type Result, Retries, Workers } from "./workers.ts";

/** Runs key "a" with these results, one after the other, then "done", and returns the times of its runs. */
async function timesOf(...results: readonly Result[]): Promise<readonly number[]> {
  const clock = new FakeClock();
  const times: number[] = [];
  const workers = new Workers({
    clock,
    random: () => 1,
    workers: 1,
    flowOf: (key) => key,
    backoff: { baseMs: 100, retryMaxMs: 400 },
    reconcile: async () => results[times.push(clock.monotonic()) - 1] ?? { type: "done" },
  });
  const end = new AbortController();
  const running = workers.run(end.signal);
  workers.add("a");
  for (let step = 0; step < 100; step++) await clock.advance(100);
  end.abort();
  await running;
  return times;
}

const retry: Result = { type: "retry" };
const rejected: Result = { type: "retry", maxMs: 1_600 };

it.each<[string, readonly Result[], readonly number[]]>([
  ["done", [{ type: "done" }], [0]],
  ["requeueAfter", [{ type: "requeueAfter", delayMs: 700 }], [0, 700]],
  ["deferred without a delay", [{ type: "deferred" }], [0]],
  ["deferred", [{ type: "deferred", delayMs: 300 }], [0, 300]],
  ["retry, with backoff up to the maximum", [retry, retry, retry, retry], [0, 100, 300, 700, 1_100]],
  ["retry, not before the Retry-After", [{ type: "retry", atLeastMs: 900 }], [0, 900]],
  [
    "retry, with a longer maximum",
    [rejected, rejected, rejected, rejected, rejected],
    [0, 100, 300, 700, 1_500, 3_100],
  ],
  [
    "requeueAfter, which forgets the failures",
    [retry, retry, { type: "requeueAfter", delayMs: 100 }, retry],
    [0, 100, 300, 400, 500],
  ],
  [
    "deferred, which keeps the failures",
    [retry, retry, { type: "deferred", delayMs: 100 }, retry],
    [0, 100, 300, 400, 800],
  ],
])("requeues a key by its result: %s", async (_, results, times) => {
  expect(await timesOf(...results)).toEqual(times);
});

it("ends all workers and rejects if a run rejects", async () => {
  const clock = new FakeClock();
  const workers = new Workers({
    clock,
    random: () => 1,
    workers: 3,
    flowOf: (key) => key,
    backoff: { baseMs: 100, retryMaxMs: 400 },
    reconcile: async () => {
      throw new Error("a bug");
    },
  });
  workers.add("a");
  await expect(workers.run(new AbortController().signal)).rejects.toThrow("a bug");
});

const retries = () => new Retries({ baseMs: 200, random: () => 1 });

describe("the delay of a retry", () => {
  it("doubles with each failure up to the maximum", () => {
    const keys = retries();
    const delays: number[] = [];
    for (let now = 0, tries = 0; tries < 13; tries++) {
      const delayMs = keys.failed("a", now, 300_000);
      delays.push(delayMs);
      now += delayMs;
    }
    expect(delays.slice(0, 4)).toEqual([200, 400, 800, 1_600]);
    expect(delays.at(-1)).toBe(300_000);
  });

  it("does not grow with failures before the time of the retry", () => {
    const keys = retries();
    keys.failed("a", 0, 300_000);
    keys.failed("a", 200, 300_000);
    for (let now = 201; now < 500; now++) expect(keys.failed("a", now, 300_000)).toBe(400);
    expect(keys.failed("a", 900, 300_000)).toBe(800);
  });

  it("starts again at the base after a success, for each key", () => {
    const keys = retries();
    keys.failed("a", 0, 300_000);
    keys.failed("b", 0, 300_000);
    keys.succeeded("a");
    expect([keys.failuresOf("a"), keys.failuresOf("b")]).toEqual([0, 1]);
    expect(keys.failed("a", 200, 300_000)).toBe(200);
  });
});
