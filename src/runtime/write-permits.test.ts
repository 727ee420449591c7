import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { namespaceOf } from "../domain/model/workload-shape.ts";
import type { Clock } from "../lib/clock.ts";
import { TokenBucket } from "./token-bucket.ts";
import { type PermitUse, soleLeadership, WritePermits } from "./write-permits.ts";

const keyOf = (namespace: number | string, name: number | string) => `Deployment/${namespace}/${name}`;

function start({ perSecond = 1, burst = 1 } = {}) {
  const clock = new FakeClock();
  const given: string[] = [];
  const end = new AbortController();
  const tokens = new TokenBucket({ clock, perSecond, burst });
  const all = new WritePermits({ clock, tokens, leadership: soleLeadership(end.signal) });
  const permits = all.of("rollouts", { flowOf: namespaceOf, onGranted: (key) => given.push(key) });
  return { clock, given, tokens, end, permits };
}

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
    const end = new AbortController();
    const tokens = new TokenBucket({ clock, perSecond: 1, burst: 1 });
    const permits = new WritePermits({ clock, tokens, leadership: soleLeadership(end.signal) }).of("rollouts", {
      flowOf: namespaceOf,
    });
    expect([permits.take(keyOf("a", 0), "high"), permits.take(keyOf("a", 1), "high")]).toEqual([true, false]);
    now = 1_000;
    expect(permits.take(keyOf("b", 0), "high")).toBe(false);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])("are not lost if they are granted during a wait: one each %i ms", async (ms) => {
    const clock = advancingClock();
    const tokens = new TokenBucket({ clock, perSecond: 1000 / ms, burst: 1 });
    const end = new AbortController();
    const all = new WritePermits({ clock, tokens, leadership: soleLeadership(end.signal) });
    const permits = all.of("housekeeping", { flowOf: namespaceOf });
    let taken = 0;
    const takeAll = async () => {
      for (let key = 0; key < 20; key++) if (await permits.wait(keyOf("shop", key))) taken++;
    };
    const waits = takeAll();
    // Long enough for 20 timers. The end of the leadership ends the wait for a lost permit.
    for (let turn = 0; turn < 100; turn++) await new Promise((next) => setImmediate(next));
    end.abort();
    await waits;
    expect(taken).toBe(20);
  });

  it("are available to the next leadership if they were granted but not used", async () => {
    const { clock, tokens, end, permits } = start();
    permits.take(keyOf("a", 0), "high");
    permits.take(keyOf("a", 1), "high");
    permits.take(keyOf("a", 2), "high");
    await clock.advance(1_000);
    end.abort();
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

describe("permits of several controllers", () => {
  /** Three controllers that have something to write in four namespaces, always. Each write takes a permit. */
  function underFullLoad() {
    const clock = new FakeClock();
    const end = new AbortController();
    const tokens = new TokenBucket({ clock, perSecond: 10, burst: 5 });
    const all = new WritePermits({ clock, tokens, leadership: soleLeadership(end.signal) });
    const written: string[] = [];
    const controller = (name: string, use: PermitUse, flows = 4) => {
      const write = (key: string): void => {
        if (permits.take(key, "low")) {
          written.push(`${name} ${key}`);
          write(key);
        }
      };
      const permits = all.of(use, { flowOf: namespaceOf, onGranted: write });
      for (let flow = 0; flow < flows; flow++) for (let n = 0; n < 50; n++) write(keyOf(flow, n));
    };
    const awaiting = async (name: string, use: PermitUse) => {
      const permits = all.of(use, { flowOf: (namespace) => namespace });
      while (await permits.wait("copies")) written.push(`${name} copies`);
    };
    return { clock, end, written, controller, awaiting };
  }

  it("stay within the rate, and each controller makes progress", async () => {
    const { clock, end, written, controller, awaiting } = underFullLoad();
    controller("owners", "housekeeping");
    const sweeps = awaiting("sweeps", "housekeeping");
    controller("rollouts", "rollouts");
    await clock.advance(100_000);
    end.abort();
    await sweeps;
    expect(written.length).toBeLessThanOrEqual(5 + 100 * 10);
    expect(written.length).toBeGreaterThan(990);
    const of = (name: string) => written.filter((each) => each.startsWith(name)).length;
    expect(of("rollouts")).toBeGreaterThanOrEqual(890);
    expect(of("owners")).toBeGreaterThanOrEqual(48);
    expect(of("sweeps")).toBeGreaterThanOrEqual(48);
    // The namespaces of a controller take turns, too.
    const inNamespace = [0, 1, 2, 3].map((flow) => of(`owners ${keyOf(flow, "")}`));
    expect(Math.max(...inNamespace) - Math.min(...inNamespace)).toBeLessThanOrEqual(5 + 1);
  });

  it("go to a rollout first, also if housekeeping waited before it", async () => {
    const { clock, written, controller } = underFullLoad();
    controller("owners", "housekeeping", 1);
    await clock.advance(100);
    const before = written.length;
    controller("rollouts", "rollouts", 1);
    await clock.advance(800);
    expect(written.slice(before).map((each) => each.split(" ")[0])).toEqual(Array(8).fill("rollouts"));
  });
});
