import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { processorMs } from "../../../test/support/processor-time.ts";
import { ReferenceIndex } from "./reference-index.ts";

const readersOf = (index: ReferenceIndex, config: string) => [...index.workloadsOf(config)].sort();

describe("ReferenceIndex", () => {
  it("finds every workload that reads an object, whether one or many", () => {
    const index = new ReferenceIndex();
    index.set("Deployment/a/one", ["Secret/a/s", "ConfigMap/a/c"]);
    index.set("Deployment/a/two", ["ConfigMap/a/c"]);
    expect(readersOf(index, "ConfigMap/a/c")).toEqual(["Deployment/a/one", "Deployment/a/two"]);
    expect(readersOf(index, "Secret/a/s")).toEqual(["Deployment/a/one"]);
    expect(readersOf(index, "Secret/a/other")).toEqual([]);
  });

  it("counts a repeated key once", () => {
    const index = new ReferenceIndex();
    index.set("w", ["c", "c"]);
    expect(readersOf(index, "c")).toEqual(["w"]);
    index.delete("w");
    expect(index.size).toEqual({ workloads: 0, configs: 0 });
  });

  it("equals brute force after any sequence of sets and deletes, and keeps nothing of deleted workloads", () => {
    const workload = fc.constantFrom("w1", "w2", "w3", "w4");
    const configs = fc.array(fc.constantFrom("c1", "c2", "c3", "c4", "c5"), { maxLength: 6 });
    const step = fc.record({ workload, configs: fc.option(configs, { nil: undefined }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: "max" }), (steps) => {
        const index = new ReferenceIndex();
        const brute = new Map<string, readonly string[]>();
        for (const each of steps) {
          if (each.configs === undefined) {
            index.delete(each.workload);
            brute.delete(each.workload);
          } else {
            index.set(each.workload, each.configs);
            brute.set(each.workload, each.configs);
          }
          const read = new Set([...brute.values()].flat());
          for (const config of ["c1", "c2", "c3", "c4", "c5"]) {
            const readers = [...brute].filter(([, keys]) => keys.includes(config)).map(([key]) => key);
            expect(readersOf(index, config)).toEqual(readers.sort());
          }
          const workloads = [...brute.values()].filter((keys) => keys.length > 0).length;
          expect(index.size).toEqual({ workloads, configs: read.size });
        }
      }),
    );
  });

  it("removes a workload at a cost that does not depend on the number of readers of its objects", async () => {
    const index = new ReferenceIndex();
    for (let i = 0; i < 100_000; i++) index.set(`w${i}`, ["shared"]);
    const cost = await processorMs(() => {
      for (let i = 0; i < 50_000; i++) index.delete(`w${i}`);
    });
    expect(cost).toBeLessThan(1000);
    expect(readersOf(index, "shared")).toHaveLength(50_000);
  });
});
