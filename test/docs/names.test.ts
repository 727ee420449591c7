import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { chartValues } from "../../deploy/values/chart-values.ts";
import { catalogue } from "../../src/telemetry/catalogue.ts";
import { runWave } from "../support/cli/terminal.ts";
import { root } from "./fences.ts";
import { codeIn, isSaid } from "./reported.ts";

const pages = [...globSync("{docs,contributing}/*.md", { cwd: root }), "README.md", "CONTRIBUTING.md"];
const codes = pages.flatMap((page) =>
  codeIn(readFileSync(join(root, page), "utf8").replace(/^```[\s\S]*?^```$/gm, "")).map((code) => ({ page, code })),
);

/** Flags of kubectl, helm, cosign, npm, Envoy, drivers, tests, `npm run release` and Reloader that pages mention. */
const flagsOfOthers = [
  "--all-containers",
  "--api-versions",
  "--auto-annotation",
  "--cascade",
  "--changed",
  "--enable-secret-rotation",
  "--field-selector",
  "--force",
  "--from",
  "--global",
  "--help",
  "--help-all",
  "--insecure-ignore-tlog",
  "--kube-version",
  "--mode",
  "--no-hooks",
  "--previous",
  "--overwrite",
  "--registry",
  "--reset-then-reuse-values",
  "--reuse-values",
  "--server-side",
  "--seed",
  "--set",
  "--show-managed-fields",
  "--sign",
  "--to-revision",
  "--wait",
  "--workloads",
];

async function flagsOfWave(): Promise<ReadonlySet<string>> {
  const { out } = await runWave(["help"]);
  const commands = [...out.matchAll(/^ {2}([a-z]+) +/gm)].map(([, name]) => name ?? "");
  const helps = await Promise.all(commands.map((name) => runWave([name, "--help-all"])));
  return new Set(
    helps.flatMap((help) => [...help.out.matchAll(/--[A-Za-z][A-Za-z-]*[A-Za-z]/g)].map(([flag]) => flag)),
  );
}

describe("names on pages exist:", () => {
  it("commands", async () => {
    const { out } = await runWave(["help"]);
    const commands = [...out.matchAll(/^ {2}([a-z]+) +/gm)].map(([, name]) => name);
    const scripts = Object.keys(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts);
    for (const { page, code } of codes) {
      for (const [, name] of code.matchAll(/(?:^|kubectl |bin\/|\| )wave ([a-z]+)/g))
        expect([...commands, "help"], `${page}: ${code}`).toContain(name);
      for (const [, name] of code.matchAll(/npm run ([a-z:-]+)/g)) expect(scripts, `${page}: ${code}`).toContain(name);
    }
  });

  it("files and folders, except generated ones", () => {
    for (const { page, code } of codes) {
      if (code !== "site/dist" && /^(src|test|bench|deploy|docs|site|bin|examples)\/[\w./-]*$/.test(code))
        expect(existsSync(join(root, code)) || existsSync(join(root, dirname(page), code)), `${page}: ${code}`).toBe(
          true,
        );
    }
  });

  it("flags", async () => {
    const known = await flagsOfWave();
    for (const { page, code } of codes) {
      for (const [flag] of code.matchAll(/(?<=^| )--[A-Za-z][A-Za-z-]*[A-Za-z](?![A-Za-z…-])/g))
        expect(known.has(flag) || flagsOfOthers.includes(flag), `${page}: ${flag}`).toBe(true);
    }
  });

  it("metrics", () => {
    // The last one is the label of the alerts that stop rollouts.
    const metrics = Object.values(catalogue).flatMap((group) => Object.values(group).map(({ name }) => name));
    const names = [...metrics, "wave_gate"];
    for (const { page, code } of codes) {
      for (const [metric] of code.matchAll(/\bwave_[a-z_]+/g))
        expect(
          names.includes(metric.replace(/_(bucket|sum|count)$/, "")) || names.includes(metric),
          `${page}: ${metric}`,
        ).toBe(true);
    }
  });

  it("annotations", () => {
    for (const { page, code } of codes) {
      for (const [, name = ""] of code.matchAll(/\bwave\.pusher\.com\/([a-z]+(?:-[a-z]+)*)/g))
        expect(isSaid(name), `${page}: ${name}`).toBe(true);
    }
  });

  it("values of the chart", () => {
    const paths = chartValues.map(({ path }) => path);
    const sections = new Set(paths.filter((path) => path.includes(".")).map((path) => path.split(".")[0]));
    for (const { page, code } of codes) {
      const [, path = ""] = code.match(/^(?:--set )?([a-z][A-Za-z]*(?:\.[A-Za-z]+)+)(?:=.*)?$/) ?? [];
      if (!sections.has(path.split(".")[0]) || path.endsWith(".yaml")) continue;
      expect(
        paths.some((known) => known === path || known.startsWith(`${path}.`) || path.startsWith(`${known}.`)),
        `${page}: ${path}`,
      ).toBe(true);
    }
  });
});
