import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runWave } from "../../test/support/cli/terminal.ts";
import { workloadStates } from "./cluster/states/state-rows.ts";
import { exitCodes } from "./command/command.ts";
import { diffEffects } from "./diff/planned-pair.ts";
import { checks } from "./doctor/checks/checks.ts";
import { severities } from "./doctor/context/finding.ts";

const page = readFileSync(new URL("../../docs/commands.md", import.meta.url), "utf8");

describe("docs/commands.md", () => {
  it("has each state with its meaning and next step", () => {
    for (const [state, { means, next }] of Object.entries(workloadStates))
      expect(page).toContain(`| \`${state}\` | ${means} |${next === "" ? " " : ` ${next} `}|\n`);
  });

  it("has each result of a check of wave doctor, whose help has each check", async () => {
    const { out } = await runWave(["doctor", "--help-all"]);
    for (const [check, { means }] of Object.entries(checks)) {
      expect(out).toContain(`\n  ${check} `);
      expect(out.replace(/\s+/g, " ")).toContain(means);
    }
    for (const [word, meaning] of Object.entries(severities)) expect(page).toContain(`| \`${word}\` | ${meaning} |\n`);
  });

  it("has each effect as wave diff knows it", () => {
    for (const [effect, meaning] of Object.entries(diffEffects))
      expect(page).toContain(`| \`${effect}\` | ${meaning} |\n`);
  });

  it("has each exit code", () => {
    for (const code of Object.values(exitCodes)) expect(page).toContain(`\n| ${code} | `);
  });

  it("has each command except those that run or describe Wave", async () => {
    const { out } = await runWave(["help"]);
    const names = [...out.matchAll(/^ {2}([a-z]+) +/gm)].map(([, name]) => name);
    for (const name of names) {
      if (!["run", "demo", "help", "version"].includes(name ?? "")) expect(page).toContain(`wave ${name}`);
    }
  });
});

describe("the help of each command", () => {
  it.each([
    "list",
    "history",
    "timeline",
    "diff",
    "wait",
    "hold",
    "release",
    "approve",
    "resume",
    "explain",
    "doctor",
    "ui",
  ])("of %s fits on a screen of 80 columns", async (name) => {
    const { code, out } = await runWave([name, "--help"]);
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`^Usage: wave ${name} `, "m"));
    expect(out.split("\n").length).toBeLessThan(23);
    const all = (await runWave([name, "--help-all"])).out;
    expect([...out.split("\n"), ...all.split("\n")].filter((line) => line.length > 80)).toEqual([]);
  });

  it("of list has its states", async () => {
    const { out } = await runWave(["list", "--help-all"]);
    for (const state of Object.keys(workloadStates)) expect(out).toContain(`\n  ${state} `);
  });
});
