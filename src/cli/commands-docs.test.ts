import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runWave } from "../../test/support/cli/terminal.ts";
import { workloadStates } from "./cluster/workload-state.ts";
import { exitCodes } from "./command/exit-codes.ts";
import { effects } from "./diff/effects.ts";
import { checks } from "./doctor/checks.ts";
import { severities } from "./doctor/finding.ts";
import { listHelp } from "./list/list-help.ts";

const page = readFileSync(new URL("../../docs/commands.md", import.meta.url), "utf8");

describe("docs/commands.md", () => {
  it("has each state as wave list knows it", () => {
    for (const [state, meaning] of Object.entries(workloadStates))
      expect(page).toContain(`| \`${state}\` | ${meaning} |\n`);
  });

  it("has each check of wave doctor, and what it may come to", () => {
    for (const [check, { means }] of Object.entries(checks)) expect(page).toContain(`| \`${check}\` | ${means} |\n`);
    for (const [word, meaning] of Object.entries(severities)) expect(page).toContain(`| \`${word}\` | ${meaning} |\n`);
  });

  it("has each effect as wave diff knows it", () => {
    for (const [effect, meaning] of Object.entries(effects)) expect(page).toContain(`| \`${effect}\` | ${meaning} |\n`);
  });

  it("has each exit code", () => {
    for (const code of Object.values(exitCodes)) expect(page).toContain(`\n| ${code} | `);
  });

  it("has each command but those that run Wave or tell of it", async () => {
    const { out } = await runWave(["help"]);
    const names = [...out.matchAll(/^ {2}([a-z]+) +/gm)].map(([, name]) => name);
    for (const name of names) {
      if (!["run", "demo", "help", "version"].includes(name ?? "")) expect(page).toContain(`wave ${name}`);
    }
  });
});

describe("the help of each command", () => {
  it.each(["list", "diff", "wait", "hold", "release", "approve", "resume", "explain", "doctor"])(
    "of %s has lines of at most 100 columns",
    async (name) => {
      const { code, out } = await runWave([name, "--help"]);
      expect(code).toBe(0);
      expect(out).toMatch(new RegExp(`^Usage: wave ${name} `));
      expect(out.split("\n").filter((line) => line.length > 100)).toEqual([]);
    },
  );

  it("of list names its states", () => {
    for (const state of Object.keys(workloadStates)) expect(listHelp()).toContain(`\n  ${state} `);
  });
});
