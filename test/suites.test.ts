import { existsSync, globSync } from "node:fs";
import { expect, it } from "vitest";
import { affectedBy, alsoInCi, leftOut, rowOf, suiteOf, suites, testFiles, tools } from "./suites.ts";
import { importersOf } from "./support/import-graph.ts";

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

it("chooses the quick tests that a change can affect at once, and names the others", () => {
  const { near, far } = affectedBy(["src/controllers/rollout/rollout-loop.ts"]);
  expect(near).toContain("src/controllers/rollout/rollout-loop.test.ts");
  // These load the file by many imports.
  expect(near).toContain("src/controllers/rollout/held.sandbox.test.ts");
  expect(near).toContain("test/docs/names.test.ts");
  expect(far).toContain("src/cli/list/list.test.ts");
  expect([...near, ...far].filter((file) => suiteOf(file).needs.length > 0)).toEqual([]);
});

it("follows imports, except those of types, which load nothing", () => {
  const distances = importersOf(["src/telemetry/logging/log.ts"]);
  expect(distances.get("src/kube/list-watch/watch-report.test.ts")).toBe(1);
  expect(distances.get("src/kube/list-watch/paged-list.ts")).not.toBe(1);
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
