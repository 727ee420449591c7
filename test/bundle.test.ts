import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..");

/** The texts of the chunks that a file of the bundle imports, now or later, its own first. */
function chunksFrom(file: string, seen = new Set<string>()): readonly string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  const text = readFileSync(join(root, "dist", file), "utf8");
  const imported = text.matchAll(/(?:from |import\()"\.\/([^"]+)"/g);
  return [text, ...Array.from(imported, ([, name = ""]) => name).flatMap((name) => chunksFrom(name, seen))];
}

it("makes a bundle of which V8 keeps a byte a character, and no ES module of one of Node's own", () => {
  execFileSync(join(root, "bin/wave"), ["version"]);
  const chunks = chunksFrom("main.js");
  expect(chunks.length).toBeGreaterThan(10);
  for (const chunk of chunks) {
    expect(chunk).not.toMatch(/[^\0-\xff]/);
    expect(chunk).not.toMatch(/^\s*import .*"node:/m);
  }
});

it("has the page of wave ui beside the bundle, at most 60 KiB compressed", () => {
  execFileSync(join(root, "bin/wave"), ["version"]);
  const page = ["page.html", "page.css", "page.js"].map((name) => readFileSync(join(root, "dist", name)));
  const bytes = page.reduce((sum, file) => sum + gzipSync(file).length, 0);
  expect(bytes).toBeLessThan(60 * 1024);
});

/**
 * The folders of the modules in each chunk of the image's bundle. Wave loads the chunks besides `controller` and `manager` only
 * if a flag or a file needs them.
 */
const mayContain: Readonly<Record<string, readonly string[]>> = {
  build: ["node_modules/re2js"],
  client: ["src/kube", "src/lib", "src/telemetry"],
  "cluster-access": ["src/kube"],
  "cluster-config": ["src/kube"],
  controller: [
    "src/cli/command",
    "src/cli/flags",
    "src/cli/output",
    "src/cli/process",
    "src/cli/run",
    "src/controller.ts",
    "src/domain",
    "src/kube",
    "src/lib",
    "src/manager",
    "src/notify",
    "src/telemetry",
  ],
  "delete-pod": ["src/cache", "src/controllers", "src/domain", "src/kube", "src/lib", "src/manager", "src/runtime"],
  dist: ["node_modules/yaml"],
  "ipv6-bytes": ["src/lib"],
  "log-messages": ["src/telemetry"],
  manager: [
    "src/cache",
    "src/controllers",
    "src/domain",
    "src/kube",
    "src/lib",
    "src/manager",
    "src/pinning",
    "src/runtime",
    "src/telemetry",
  ],
  notifier: ["src/notify", "src/telemetry"],
  printable: ["src/lib"],
  "proxy-tunnel": ["src/kube"],
  // What the hook before `helm uninstall` runs.
  "scheduling-holds": ["src/cli/cluster", "src/cli/command", "src/cli/release"],
  webhook: ["src/domain", "src/telemetry", "src/webhook"],
};

it("has only the controller in the bundle of the image, each chunk with only its own folders", async () => {
  const { default: config } = await import(join(root, "rolldown.controller.config.js"));
  await using bundle = await rolldown(config);
  const { output } = await bundle.generate(config.output);
  expect(output.filter((file) => file.type === "asset")).toEqual([]);
  const chunks = output.filter((file) => file.type === "chunk").filter(({ name }) => name !== "rolldown-runtime");
  const found = chunks.map(({ name, moduleIds }) => {
    const folders = moduleIds.map((path) =>
      relative(root, path)
        .split("/")
        .slice(0, path.includes("/src/cli/") ? 3 : 2),
    );
    return [name, [...new Set(folders.map((folder) => folder.join("/")))].toSorted()] as const;
  });
  expect(Object.fromEntries(found)).toEqual(mayContain);
});
