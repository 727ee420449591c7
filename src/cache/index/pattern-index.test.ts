import { describe, expect, it } from "vitest";
import type { PatternReference } from "../../domain/compatibility/directive.ts";
import { loadNamePatterns } from "../../domain/compatibility/name-pattern.ts";
import type { ConfigKind } from "../../domain/references/references.ts";
import { PatternIndex } from "./pattern-index.ts";

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
