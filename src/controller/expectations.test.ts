import { describe, expect, it } from "vitest";
import { FakeClock } from "../lib/fake-clock.ts";
import { toWorkload, type Workload } from "../rollout/workload.ts";
import { Expectations } from "./expectations.ts";
import { workload } from "./test-cluster.ts";

const { metadata, spec } = workload("web");
const web = (generation: number, uid = "1"): Workload =>
  toWorkload("Deployment", { metadata: { ...metadata, namespace: "default", uid, generation }, spec });
const key = "Deployment/default/web";

describe("what is known to be newer than the cache", () => {
  it("counts until the cache has caught up", async () => {
    const expectations = new Expectations(new FakeClock());
    const [old, written] = [web(1), web(3)];
    expect(expectations.newest(key, old)).toBe(old);
    expectations.expect(key, old, written);
    expect(expectations.newest(key, old)).toBe(written);
    // Somebody's write before Wave's comes in first.
    expect(expectations.newest(key, web(2))).toBe(written);
    const caughtUp = web(3);
    expect(expectations.newest(key, caughtUp)).toBe(caughtUp);
    expect(expectations.newest(key, old)).toBe(old);
  });

  it("does not hide a workload that was made anew under the same name", () => {
    const expectations = new Expectations(new FakeClock());
    const old = web(1);
    expectations.expect(key, old, web(7));
    const anew = web(1, "2");
    expect(expectations.newest(key, anew)).toBe(anew);
  });

  it("does not count for ever where the cache never hears of it", async () => {
    const clock = new FakeClock();
    const expectations = new Expectations(clock);
    const [old, written] = [web(1), web(2)];
    expectations.expect(key, old, written);
    await clock.advance(29_999);
    expect(expectations.newest(key, old)).toBe(written);
    await clock.advance(1);
    expect(expectations.newest(key, old)).toBe(old);
  });
});
