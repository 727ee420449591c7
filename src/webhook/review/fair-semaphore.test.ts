import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FairSemaphore } from "./live-configuration.ts";

const tick = () => new Promise((resolve) => setImmediate(resolve));

describe("FairSemaphore", () => {
  it("starts the only task of a group after at most one more task of each other group", async () => {
    const permits = new FairSemaphore(2);
    const order: string[] = [];
    const ends: (() => void)[] = [];
    const run = (group: string) =>
      void permits.run(group, () => {
        order.push(group);
        return new Promise<void>((resolve) => ends.push(resolve));
      });
    for (let tasks = 0; tasks < 100; tasks++) run("greedy");
    for (let tasks = 0; tasks < 50; tasks++) run("busy");
    run("victim");
    await tick();
    for (let ended = 0; ended < 4; ended++) {
      ends.shift()?.();
      await tick();
    }
    expect(order).toEqual(["greedy", "greedy", "greedy", "busy", "victim", "greedy"]);
  });

  it("runs each task once and never more than the limit, also when tasks fail", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.record({ group: fc.constantFrom("a", "b", "c"), fails: fc.boolean() }), { maxLength: 30 }),
        async (atOnce, tasks) => {
          const permits = new FairSemaphore(atOnce);
          let [running, most] = [0, 0];
          const results = tasks.map(({ group, fails }) =>
            permits.run(group, async () => {
              most = Math.max(most, ++running);
              await null;
              running--;
              if (fails) throw new Error("failed");
            }),
          );
          const statuses = (await Promise.allSettled(results)).map(({ status }) => status);
          expect(statuses).toEqual(tasks.map(({ fails }) => (fails ? "rejected" : "fulfilled")));
          expect(most).toBe(Math.min(atOnce, tasks.length));
        },
      ),
    );
  });
});
