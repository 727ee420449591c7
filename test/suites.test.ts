import { existsSync, globSync } from "node:fs";
import { expect, it } from "vitest";
import { alsoInCi, leftOut, rowOf, suiteOf, suites, testFiles, tools } from "./suites.ts";

const files = testFiles();
const slow = files.filter((file) => suiteOf(file).tier === "all");

it("has a row for each file, and a file for each row", () => {
  expect(new Set(files.map(rowOf))).toEqual(new Set(suites.keys()));
});

it("names paths that exist, so that a change of them runs the suite", () => {
  for (const { of } of suites) for (const glob of of) expect(globSync(glob).length, glob).toBeGreaterThan(0);
  for (const { install } of Object.values(tools))
    for (const command of install.split(" && ").filter((each) => !each.startsWith("npm ")))
      expect(existsSync(command), command).toBe(true);
});

it("runs each file in one of five consecutive commits, whatever they change", () => {
  const inTurn = [100, 101, 102, 103, 104].map((commit) => alsoInCi(["LICENSE"], commit));
  expect(inTurn.flat().sort()).toEqual(slow);
  for (const each of inTurn) expect(each.length).toBeLessThanOrEqual(Math.ceil(slow.length / 5));
});

it("runs the files that a change can affect", () => {
  const affected = alsoInCi(["docs/pacing.md"], 0);
  expect(affected).toContain("test/docs/snippets.test.ts");
  expect(alsoInCi(["test/pinning/scenarios.ts"], 0)).toEqual(
    expect.arrayContaining(slow.filter((file) => file.startsWith("test/pinning/"))),
  );
});

it("prints what a run leaves out, with the command that runs it", () => {
  const table = leftOut(
    files,
    new Set(files.filter((file) => suiteOf(file).needs.length === 0)),
    new Set(["Chromium"]),
  );
  expect(table).toMatch(/^MISSING +LEFT OUT +RUN$/m);
  expect(table).toMatch(/^Chromium +4 files, parts of 1 +test\/docs\/install \(Debian, root\)$/m);
  expect(table).toMatch(/^ +\d+ files +npm run test:all *$/m);
  expect(leftOut(files, new Set(files), new Set())).toBeUndefined();
});
