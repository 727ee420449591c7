import { describe, expect, it } from "vitest";
import { FakeClock } from "../lib/fake-clock.ts";
import { TokenBucket } from "../lib/token-bucket.ts";
import { Pacing } from "./pacing.ts";

function start() {
  const clock = new FakeClock();
  return { clock, pacing: new Pacing(clock, new TokenBucket({ clock, perSecond: 1, burst: 1 })) };
}

describe("pacing", () => {
  it("lets a workload that waits keep its turn, however often it asks", async () => {
    const { clock, pacing } = start();
    expect(pacing.take("a")).toBe(0);
    expect(pacing.take("b")).toBe(1_000);
    expect(pacing.take("c")).toBe(2_000);
    await clock.advance(400);
    expect([pacing.take("b"), pacing.take("b"), pacing.take("c")]).toEqual([600, 600, 1_600]);
    await clock.advance(600);
    expect(pacing.take("b")).toBe(0);
    expect(pacing.take("c")).toBe(1_000);
  });

  it("gives a workload a new turn after it has written or given its turn up", async () => {
    const { clock, pacing } = start();
    pacing.take("a");
    pacing.take("b");
    pacing.drop("b");
    expect(pacing.take("b")).toBe(2_000);
    await clock.advance(2_000);
    expect(pacing.take("b")).toBe(0);
    expect(pacing.take("b")).toBe(1_000);
  });

  it("does not send a workload to wait again whose timer was a fraction of a millisecond early", async () => {
    const { clock, pacing } = start();
    pacing.take("a");
    pacing.take("b");
    await clock.advance(999.5);
    expect(pacing.take("b")).toBe(0);
  });
});
