import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { processorMs } from "../../../test/support/processor-time.ts";
import type { PatternReference } from "../../domain/compatibility/directive.ts";
import { loadNamePatterns } from "../../domain/compatibility/stakater-directives.ts";
import type { ConfigKind } from "../../domain/references/references.ts";
import { PatternIndex, ReferenceIndex } from "./reference-index.ts";

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
    index.set("w", []);
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
            index.set(each.workload, []);
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
      for (let i = 0; i < 50_000; i++) index.set(`w${i}`, []);
    });
    expect(cost).toBeLessThan(1000);
    expect(readersOf(index, "shared")).toHaveLength(50_000);
  });
});

await loadNamePatterns({ understood: ["stakater"] });

const pattern = (source: string, kind: ConfigKind = "ConfigMap"): PatternReference => ({ kind, source, path: "p" });

/** An index over the ConfigMaps of namespace "shop". */
function indexOver(...existing: readonly string[]) {
  const index = new PatternIndex((kind, namespace) => (kind === "ConfigMap" && namespace === "shop" ? existing : []));
  const object = (name: string) => ({ kind: "ConfigMap" as const, namespace: "shop", name });
  return {
    index,
    readers: (name: string, isThere = true) => [...index.workloadsOf(`ConfigMap/shop/${name}`, isThere)].sort(),
    names: (source: string) => {
      const matched = index.namesMatching("shop", [pattern(source)]);
      return matched === "tooMuchWork" ? ["too much"] : [...(matched[0] ?? [])].sort();
    },
    added: (name: string) => index.added(object(name)),
    removed: (name: string) => index.removed(object(name)),
  };
}

describe("PatternIndex", () => {
  it("returns the workloads whose expression matches an object that exists, is created or is deleted", () => {
    const { index, readers, names, added, removed } = indexOver("app-1");
    index.set("Deployment/shop/a", "shop", [pattern("app-.*"), pattern("x")]);
    index.set("Deployment/shop/b", "shop", [pattern("app-.*")]);
    index.set("Deployment/other/c", "other", [pattern("app-.*")]);
    added("app-2");
    added("y");
    expect(names("app-.*")).toEqual(["app-1", "app-2"]);
    expect(readers("app-2")).toEqual(["Deployment/shop/a", "Deployment/shop/b"]);
    expect(readers("y")).toEqual([]);
    removed("app-2");
    expect(names("app-.*")).toEqual(["app-1"]);
    expect(readers("app-2", false)).toEqual(["Deployment/shop/a", "Deployment/shop/b"]);
    expect([...index.workloadsOf("Secret/shop/app-1", true)]).toEqual([]);
  });

  it("keeps nothing of removed objects, and does not store lookups", () => {
    const { index, names, readers } = indexOver("app-1");
    expect(names("a.*")).toEqual(["app-1"]);
    index.set("w", "shop", [pattern("a.*"), pattern("b.*")]);
    index.set("w", "shop", [pattern("b.*")]);
    expect(index.size).toEqual({ workloads: 1, expressions: 1 });
    index.set("w", "shop", []);
    expect(index.size).toEqual({ workloads: 0, expressions: 0 });
    expect(index.isEmpty).toBe(true);
    expect(readers("app-1")).toEqual([]);
  });

  it("keeps an expression once for any number of workloads, and few different expressions", () => {
    const { index, names, added } = indexOver("app-1");
    for (let n = 0; n < 10_000; n++) index.set(`same-${n}`, "shop", [pattern("app-.*")]);
    expect(index.size).toEqual({ workloads: 10_000, expressions: 1 });
    for (let n = 0; n < 10_000; n++) index.set(`own-${n}`, "shop", [pattern(`app-${n}.*`)]);
    expect(index.size.expressions).toBeLessThan(400);
    added("app-9999x");
    expect(names("app-.*")).toEqual(["app-1", "app-9999x"]);
    expect(names("app-9999.*")).toEqual(["too much"]);
  });

  it("stops matching an expression that takes too much work in its namespace, and no other expression", () => {
    const { index, names } = indexOver(...Array.from({ length: 5_000 }, (_, n) => `app-${n}-${"a".repeat(26)}`));
    expect(names(`.*${"(a|a)*".repeat(30)}b`)).toEqual(["too much"]);
    expect(names("app-.*")).toHaveLength(5_000);
    const many = Array.from({ length: 100 }, (_, n) => pattern(`(a|a)*${n}x`));
    expect(index.namesMatching("shop", many)).toBe("tooMuchWork");
  });
});
