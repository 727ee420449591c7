import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { wave } from "../control-plane/wave-process.ts";

const run = promisify(execFile);

describeOnControlPlane("wave demo", ({ kubeconfig, list }) => {
  const demoNamespaces = async () =>
    (await list("/api/v1/namespaces"))
      .map(({ metadata }) => metadata.name)
      .filter((name) => name.startsWith("wave-demo"));

  it("runs in a temporary namespace and removes it", async () => {
    const { stdout, stderr } = await run(wave, ["demo", "--kubeconfig", kubeconfig]);
    expect(stderr).toBe("");
    expect(stdout).toMatch(
      /Event +ConfigChanged\s+Rollout started: ConfigMap "web-page"\s+changed\s+\(key\s+"index.html"\)/,
    );
    expect(stdout).toMatch(/^Done in .* s: 3 changes, .* 2 rollouts\./m);
    expect(await demoNamespaces()).toEqual([]);
  });

  it("leaves nothing if a signal interrupts it", async () => {
    const child = spawn(wave, ["demo", "--kubeconfig", kubeconfig], { stdio: ["ignore", "pipe", "ignore"] });
    const closed = once(child, "close");
    // Only once: a second signal ends the process at once.
    let isInterrupted = false;
    for await (const chunk of child.stdout) {
      if (!isInterrupted && String(chunk).includes("1. ")) isInterrupted = child.kill("SIGINT");
    }
    expect(await closed).toEqual([130, null]);
    expect(await demoNamespaces()).toEqual([]);
  });
});

describe("the bundle", () => {
  it("loads neither the demo nor the sandbox for wave run", async () => {
    await run(wave, ["version"]);
    const read = (file: string) => readFileSync(join(import.meta.dirname, "../../dist", file), "utf8");
    const imports = (file: string, pattern: RegExp) => [...read(file).matchAll(pattern)].map(([, name = ""]) => name);
    const loaded = new Set<string>();
    const load = (file: string) => {
      if (loaded.has(file)) return;
      loaded.add(file);
      for (const each of imports(file, /from\s*"\.\/([^"]+)"/g)) load(each);
    };
    load("main.js");
    for (const chunk of imports("main.js", /import\("\.\/(run-[^"]+)"\)/g)) load(chunk);
    for (const chunk of [...loaded].flatMap((file) => imports(file, /import\("\.\/(manager-[^"]+)"\)/g))) load(chunk);
    expect([...loaded].some((file) => read(file).includes("function runManager("))).toBe(true);
    expect([...loaded].filter((file) => /function (startSandbox|runStory)\(/.test(read(file)))).toEqual([]);
  });
});
