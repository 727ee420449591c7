import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { namespaceOf } from "../domain/model/workload-key.ts";
import { TokenBucket } from "./token-bucket.ts";
import { WritePermits } from "./write-permits.ts";

const keyOf = (namespace: number | string, name: number | string) => `Deployment/${namespace}/${name}`;

function start({ perSecond = 1, burst = 1 } = {}) {
  const clock = new FakeClock();
  const given: string[] = [];
  const tokens = new TokenBucket({ clock, perSecond, burst });
  const permits = new WritePermits({ clock, tokens, flowOf: namespaceOf, onGranted: (key) => given.push(key) });
  return { clock, given, tokens, permits };
}

describe("write permits", () => {
  it("are available at once while there are some, and then granted one by one in order", async () => {
    const { clock, given, permits } = start({ burst: 2 });
    const keys = ["a", "b", "c", "d"].map((name) => keyOf("default", name));
    expect(keys.map((key) => permits.take(key, "high"))).toEqual([true, true, false, false]);
    expect(permits.waiting).toBe(2);
    await clock.advance(999);
    expect(given).toEqual([]);
    await clock.advance(1);
    expect(given).toEqual([keys[2]]);
    expect(permits.take(keyOf("default", "c"), "high")).toBe(true);
    await clock.advance(1_000);
    expect(given).toEqual(keys.slice(2));
    expect(permits.take(keyOf("default", "d"), "high")).toBe(true);
    expect([permits.waiting, clock.pending]).toEqual([0, 0]);
  });

  it("are not reserved before they are needed: a workload without a due write frees the next permit at once", async () => {
    const { clock, given, permits } = start();
    for (let name = 0; name < 101; name++) permits.take(keyOf("default", name), "high");
    await clock.advance(1_000);
    for (let name = 1; name < 100; name++) permits.drop(keyOf("default", name));
    expect(given.at(-1)).toBe(keyOf("default", 100));
    expect(permits.take(keyOf("default", 100), "high")).toBe(true);
    expect(permits.waiting).toBe(0);
  });

  it("rotate between namespaces, and within each namespace single edits come before changes from a list", async () => {
    const { clock, given, permits } = start();
    permits.take(keyOf("x", "x"), "low");
    for (let name = 0; name < 3; name++) permits.take(keyOf("many", name), "low");
    permits.take(keyOf("many", "edit"), "high");
    permits.take(keyOf("few", 0), "low");
    for (let second = 1; second <= 5; second++) {
      await clock.advance(1_000);
      expect(permits.take(given.at(-1) ?? "", "low")).toBe(true);
    }
    expect(given).toEqual([keyOf("many", "edit"), keyOf("few", 0), ...[0, 1, 2].map((name) => keyOf("many", name))]);
  });

  it("are not granted to a newcomer while others wait", async () => {
    const { clock, given, permits } = start();
    permits.take(keyOf("a", 0), "high");
    permits.take(keyOf("a", 1), "high");
    await clock.advance(1_000);
    permits.drop(keyOf("a", 1));
    permits.take(keyOf("a", 2), "low");
    permits.take(keyOf("a", 3), "low");
    await clock.advance(1_000);
    expect(permits.take(keyOf("b", 0), "high")).toBe(false);
    expect(given).toEqual([keyOf("a", 1), keyOf("a", 3)]);
  });

  it("are not granted to a newcomer if a permit is due and its timer is late", () => {
    let now = 0;
    const clock = { wall: () => now, monotonic: () => now, timer: () => () => {} };
    const tokens = new TokenBucket({ clock, perSecond: 1, burst: 1 });
    const permits = new WritePermits({ clock, tokens, flowOf: namespaceOf, onGranted: () => {} });
    expect([permits.take(keyOf("a", 0), "high"), permits.take(keyOf("a", 1), "high")]).toEqual([true, false]);
    now = 1_000;
    expect(permits.take(keyOf("b", 0), "high")).toBe(false);
  });

  it("are available to the next leadership if they were granted but not used", async () => {
    const { clock, tokens, permits } = start();
    permits.take(keyOf("a", 0), "high");
    permits.take(keyOf("a", 1), "high");
    permits.take(keyOf("a", 2), "high");
    await clock.advance(1_000);
    permits.close();
    expect([permits.take(keyOf("a", 3), "high"), permits.waiting]).toEqual([false, 0]);
    expect([tokens.take(), tokens.take(), clock.pending]).toEqual([true, false, 0]);
  });

  it("make a workload wait at most (namespaces with a due write) / rate, regardless of the others", async () => {
    const change = fc.record({
      namespace: fc.nat({ max: 6 }),
      name: fc.nat({ max: 30 }),
      wants: fc.boolean(),
      list: fc.boolean(),
      pauseMs: fc.constantFrom(0, 0, 20, 50),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 50, maxLength: 150, size: "max" }), async (changes) => {
        const perSecond = 10;
        const { clock, given, permits } = start({ perSecond });
        /** Who has something to write, in reality. */
        const wanting = new Set<string>();
        /** A worker: plans each holder of a permit, and writes if a write is still due. */
        const writes: string[] = [];
        const plan = (key: string, priority: "high" | "low") => {
          if (!wanting.has(key)) return permits.drop(key);
          if (!permits.take(key, priority)) return;
          writes.push(key);
          wanting.delete(key);
        };
        const work = () => {
          for (let key = given.shift(); key !== undefined; key = given.shift()) plan(key, "high");
        };
        const pass = async (ms: number) => {
          for (let passed = 0; passed < ms; passed += 10) {
            await clock.advance(10);
            work();
          }
        };
        const victim = keyOf("victim", "web");
        const victimFrom = Math.floor(changes.length / 2);
        let since = Number.NaN;
        for (const [index, { namespace, name, wants, list, pauseMs }] of changes.entries()) {
          if (index === victimFrom) {
            wanting.add(victim);
            since = clock.monotonic();
            plan(victim, "high");
          }
          const key = keyOf(namespace, name);
          // Some changes are planned at once, and some only with the permit.
          if (wants) wanting.add(key);
          else wanting.delete(key);
          if (wants || list) plan(key, list ? "low" : "high");
          work();
          await pass(pauseMs);
          if (index >= victimFrom && !writes.includes(victim)) {
            expect(clock.monotonic() - since).toBeLessThanOrEqual((8 * 1000) / perSecond + 10);
          }
        }
        await pass(1_000);
        expect(writes).toContain(victim);
        while (permits.waiting > 0) await pass(100);
        work();
        expect(wanting.size).toBe(0);
      }),
      { numRuns: 20 },
    );
  });
});
