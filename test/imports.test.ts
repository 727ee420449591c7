import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";

/** What each part of `src/` may import besides itself, as docs/architecture.md draws it: down only. */
const mayImport: Record<string, readonly string[]> = {
  "main.ts": ["cli"],
  cli: ["manager", "notify", "webhook", "rollout", "cache", "kube", "telemetry", "lib"],
  "cli/demo": ["sandbox", "manager", "rollout", "kube", "telemetry", "lib", "cli"],
  manager: ["controller", "notify", "webhook", "cache", "rollout", "kube", "telemetry", "lib"],
  controller: ["cache", "rollout", "kube", "telemetry", "lib"],
  webhook: ["cache", "rollout", "kube", "telemetry", "lib"],
  notify: ["kube", "telemetry", "lib"],
  cache: ["rollout", "kube", "telemetry", "lib"],
  kube: ["telemetry", "lib"],
  sandbox: ["lib"],
  rollout: [],
  telemetry: ["lib"],
  lib: [],
};

/** The only packages and Node modules that the pure part may import: types, and SHA-256. */
const rolloutPackages = ["kubernetes-types", "node:crypto"];

interface Import {
  readonly file: string;
  readonly target: string;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, "utf8");
  const specifiers = text.matchAll(/\b(?:from|import)\s*\(?\s*"([^"]+)"/g);
  return Array.from(specifiers, ([, target = ""]) => ({ file, target }));
}

/** The row of the table that a file below `src/` belongs to. */
function layerOf(file: string): string {
  const path = normalize(file).split("/").slice(1);
  if (path[0] === "cli" && path[1]?.startsWith("demo")) return "cli/demo";
  return path[0] ?? "";
}

function wrong({ file, target }: Import): boolean {
  const layer = layerOf(file);
  if (!target.startsWith(".")) return layer === "rollout" && !rolloutPackages.some((name) => target.startsWith(name));
  const to = layerOf(join(dirname(file), target));
  if (to === layer || (layer === "cli" && to === "cli/demo")) return false;
  return !(mayImport[layer] ?? []).includes(to);
}

/** The imports that lie on circles of files, or between two circles: what is left without those that begin or end a way. */
function circles(imports: readonly Import[]): readonly Import[] {
  const files = new Set(imports.map(({ file }) => file));
  const targets = new Set(imports.map(({ target }) => target));
  const left = imports.filter(({ file, target }) => targets.has(file) && files.has(target));
  return left.length === imports.length ? left : circles(left);
}

const sources = globSync("src/**/*.ts").filter((file) => !file.endsWith(".test.ts"));

describe("imports", () => {
  it("point down only", () => {
    expect(sources.flatMap(importsOf).filter(wrong)).toEqual([]);
  });

  it("make no circle of files, not even of types", () => {
    const resolved = sources
      .flatMap(importsOf)
      .map(({ file, target }) => ({ file, target: join(dirname(file), target) }));
    expect(circles(resolved)).toEqual([]);
  });

  it("belong to a part that the table knows", () => {
    expect(sources.filter((file) => !(layerOf(file) in mayImport))).toEqual([]);
  });

  it("are refused when they point up", () => {
    expect(wrong({ file: "src/rollout/plan.ts", target: "../kube/client.ts" })).toBe(true);
    expect(wrong({ file: "src/controller/a.ts", target: "../webhook/b.ts" })).toBe(true);
    expect(wrong({ file: "src/webhook/a.ts", target: "../rollout/plan.ts" })).toBe(false);
  });

  it("are named where they make a circle, without those that lead to it and away from it", () => {
    const ways = ["main a", "a b", "b c", "c a", "c leaf", "main leaf"].map((way) => way.split(" "));
    const circle = circles(ways.map(([file = "", target = ""]) => ({ file, target })));
    expect(circle.map(({ file, target }) => `${file} ${target}`)).toEqual(["a b", "b c", "c a"]);
  });
});
