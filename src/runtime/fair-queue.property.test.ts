import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FairQueue, type Priority } from "./fair-queue.ts";

const flowOf = (key: string) => key.slice(0, 1);
const key = fc.tuple(fc.constantFrom("a", "b", "c"), fc.integer({ min: 0, max: 4 })).map(([flow, n]) => flow + n);
type Step =
  | { readonly do: "add"; readonly key: string; readonly priority: Priority }
  | { readonly do: "delete"; readonly key: string }
  | { readonly do: "take" };
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("add" as const), key, priority: fc.constantFrom("high", "low") }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("delete" as const), key }) },
  { weight: 1, arbitrary: fc.constant({ do: "take" as const }) },
);

/** The same in the simplest way: flows in the order of their turns, each a list of its keys. */
class Model {
  flows: { name: string; keys: { key: string; priority: Priority }[] }[] = [];

  add(each: string, priority: Priority): void {
    const flow = this.flows.find(({ name }) => name === flowOf(each)) ?? { name: flowOf(each), keys: [] };
    if (!this.flows.includes(flow)) this.flows.push(flow);
    const there = flow.keys.find((one) => one.key === each);
    if (there !== undefined && (there.priority === "high" || priority === "low")) return;
    flow.keys = [...flow.keys.filter((one) => one.key !== each), { key: each, priority }];
  }

  delete(each: string): boolean {
    const before = this.size;
    for (const flow of this.flows) flow.keys = flow.keys.filter((one) => one.key !== each);
    this.flows = this.flows.filter(({ keys }) => keys.length > 0);
    return this.size < before;
  }

  take(): string | undefined {
    const [first, ...others] = this.flows;
    if (first === undefined) return undefined;
    const taken = first.keys.find(({ priority }) => priority === "high") ?? first.keys[0];
    first.keys = first.keys.filter((one) => one !== taken);
    this.flows = first.keys.length > 0 ? [...others, first] : others;
    return taken?.key;
  }

  get size(): number {
    return this.flows.reduce((sum, { keys }) => sum + keys.length, 0);
  }
}

describe("a fair queue", () => {
  it("behaves as described for every sequence of calls", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: "max" }), (steps) => {
        const [queue, model] = [new FairQueue(flowOf), new Model()];
        for (const each of steps) {
          switch (each.do) {
            case "add":
              queue.add(each.key, each.priority);
              model.add(each.key, each.priority);
              break;
            case "delete":
              expect(queue.delete(each.key)).toBe(model.delete(each.key));
              break;
            case "take":
              expect(queue.take()).toBe(model.take());
          }
          expect(queue.size).toBe(model.size);
        }
        while (model.size > 0) expect(queue.take()).toBe(model.take());
        expect(queue.take()).toBeUndefined();
      }),
    );
  });

  it("drops a key of the flow with the most keys on request", () => {
    const queue = new FairQueue(flowOf);
    for (const each of ["a0", "b0", "b1", "b2", "c0", "c1"]) queue.add(each, "high");
    expect([queue.takeFromLongest(), queue.takeFromLongest(), queue.size]).toEqual(["b0", "b1", 4]);
    expect([queue.take(), queue.take(), queue.take(), queue.take()]).toEqual(["a0", "b2", "c0", "c1"]);
  });
});
