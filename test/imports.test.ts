import { globSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { type Import, importsOf } from "./support/import-graph.ts";

/** The layers that each layer may import in addition to itself, as contributing/architecture.md draws it: down only. */
const mayImport: Record<string, readonly string[]> = {
  "main.ts": ["cli"],
  "controller.ts": ["cli"],
  cli: [
    "manager",
    "controllers",
    "notify",
    "webhook",
    "domain",
    "cache",
    "runtime",
    "kube",
    "telemetry",
    "lib",
    "types",
  ],
  "cli/demo": ["sandbox", "manager", "domain", "kube", "runtime", "telemetry", "lib", "cli"],
  manager: ["controllers", "notify", "webhook", "pinning", "cache", "runtime", "domain", "kube", "telemetry", "lib"],
  controllers: ["pinning", "cache", "runtime", "domain", "kube", "telemetry", "lib"],
  webhook: ["pinning", "cache", "runtime", "domain", "kube", "telemetry", "lib"],
  notify: ["runtime", "kube", "telemetry", "lib"],
  pinning: ["domain", "kube", "telemetry", "lib"],
  cache: ["runtime", "domain", "kube", "telemetry", "lib"],
  kube: ["runtime", "telemetry", "lib"],
  runtime: ["telemetry", "lib"],
  sandbox: ["types"],
  types: [],
  domain: [],
  telemetry: ["lib"],
  lib: [],
};

/** The only packages and Node modules that the pure part may import: types, SHA-256, and regular expressions. */
const domainPackages = ["#kubernetes", "node:crypto", "re2js"];

/** The row of the table that a file belongs to. */
function layerOf(file: string): string {
  const path = normalize(file).split("/");
  if (path[0] !== "src") return path[0] ?? "";
  if (path[1] === "cli" && path[2] === "demo") return "cli/demo";
  return path[1] ?? "";
}

function pointsUp({ file, target }: Import): boolean {
  const layer = layerOf(file);
  if (!target.startsWith(".")) return layer === "domain" && !domainPackages.some((name) => target.startsWith(name));
  const to = layerOf(join(dirname(file), target));
  if (to === layer || (layer === "cli" && to === "cli/demo")) return false;
  return !(mayImport[layer] ?? []).includes(to);
}

/** The edges that lie on circles, or between two circles: what is left without those that begin or end a path. */
function circles(edges: readonly Import[]): readonly Import[] {
  const files = new Set(edges.map(({ file }) => file));
  const targets = new Set(edges.map(({ target }) => target));
  const left = edges.filter(({ file, target }) => targets.has(file) && files.has(target));
  return left.length === edges.length ? left : circles(left);
}

const sources = globSync("{src,sandbox}/**/*.ts").filter((file) => !file.endsWith(".test.ts"));

const edges = sources
  .flatMap(importsOf)
  .filter(({ target }) => target.startsWith("."))
  .map(({ file, target }) => ({ file, target: join(dirname(file), target) }));

/** The same between folders: the files that lie in a folder itself are one node, each folder in it is another. */
const folderEdges = edges
  .map(({ file, target }) => ({ file: dirname(file), target: dirname(target) }))
  .filter(({ file, target }) => file !== target);

describe("imports", () => {
  it("point down only", () => {
    expect(sources.flatMap(importsOf).filter(pointsUp)).toEqual([]);
  });

  it("make no circle of files, not even of types", () => {
    expect(circles(edges)).toEqual([]);
  });

  it("make no circle of folders", () => {
    const found = circles(folderEdges).map(({ file, target }) => `${file} → ${target}`);
    expect([...new Set(found)]).toEqual([]);
  });

  it("belong to a layer that the table has", () => {
    expect(sources.filter((file) => !(layerOf(file) in mayImport))).toEqual([]);
  });

  it("never reach test support", () => {
    expect(edges.filter(({ target }) => target.startsWith("test/"))).toEqual([]);
  });

  it("are refused when they point up", () => {
    expect(pointsUp({ file: "src/domain/plan/plan.ts", target: "../../kube/http/client.ts" })).toBe(true);
    expect(pointsUp({ file: "src/controllers/a.ts", target: "../webhook/b.ts" })).toBe(true);
    expect(pointsUp({ file: "src/webhook/a.ts", target: "../domain/b.ts" })).toBe(false);
  });

  it("are named if they make a circle, without those that lead to it and away from it", () => {
    const paths = ["main a", "a b", "b c", "c a", "c leaf", "main leaf"].map((path) => path.split(" "));
    const circle = circles(paths.map(([file = "", target = ""]) => ({ file, target })));
    expect(circle.map(({ file, target }) => `${file} ${target}`)).toEqual(["a b", "b c", "c a"]);
  });
});
