// Breaks the code in many small ways, one at a time in a copy, and counts what the unit tests find: those of the folder first, then those
// that need the fewest imports to load the file. Usage: npm run mutants [-- PART-OF-A-PATH...]
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createVitest, type Vitest } from "vitest/node";
import { importersOf } from "../support/import-graph.ts";
import { type Mutant, mutants } from "./rows.ts";

/** How many mutants of all the unit tests must find. */
const leastFound = 57;

/** The tests of a mutant that run one group after the other, from the nearest on. Tests after them also load the file, by more imports. */
const groups = [
  [0, 3],
  [3, 15],
  [15, 30],
  [30, 60],
] as const;

const root = join(import.meta.dirname, "../..");
const parts = process.argv.splice(2);
const chosen = mutants.filter(({ file }) => parts.length === 0 || parts.some((part) => file.includes(part)));
const say = (line: string) => process.stdout.write(`${line}\n`);

/** Returns the text of a file with the mutant. Throws if the file does not have the old text exactly once. */
function mutated({ file, old, new: replacement }: Mutant): string {
  const pieces = readFileSync(join(root, file), "utf8").split(old);
  if (pieces.length !== 2)
    throw new Error(`${file} has this text ${pieces.length - 1} times, not once: correct test/mutants/rows.ts\n${old}`);
  return pieces.join(replacement);
}

/** Returns the unit tests that load a file: first the one with its name, then those of its folder, then those that need the fewest imports. */
function testsOf(file: string): readonly string[] {
  const name = file.replace(/ts$/, "");
  const rank = (test: string) => (test.startsWith(name) ? 0 : dirname(test) === dirname(file) ? 1 : 2);
  const tests = [...importersOf([file]).keys()].filter((path) => /^src\/.*\.test\.ts$/.test(path));
  return tests.sort((a, b) => rank(a) - rank(b));
}

/** Returns the file of the test that fails in the copy; undefined if all pass. */
async function failing(vitest: Vitest, tests: readonly string[]): Promise<string | undefined> {
  for (const [first, end] of groups) {
    const group = tests.slice(first, end);
    const specifications = group.flatMap((test) => vitest.getModuleSpecifications(join(process.cwd(), test)));
    if (specifications.length === 0) return undefined;
    const { testModules } = await vitest.runTestSpecifications(specifications);
    // The result has the files of earlier runs, too.
    const failed = testModules.find((module) => group.includes(module.relativeModuleId) && module.state() === "failed");
    if (failed !== undefined) return failed.relativeModuleId;
  }
  return undefined;
}

/** Returns the file of the test that finds a mutant in the copy; undefined if there is none. */
async function finderOf(vitest: Vitest, mutant: Mutant): Promise<string | undefined> {
  const path = join(process.cwd(), mutant.file);
  writeFileSync(path, mutated(mutant));
  vitest.invalidateFile(path);
  try {
    return await failing(vitest, testsOf(mutant.file));
  } finally {
    cpSync(join(root, mutant.file), path);
    vitest.invalidateFile(path);
  }
}

for (const mutant of chosen) mutated(mutant);
const copy = mkdtempSync(join(tmpdir(), "wave-mutants-"));
let vitest: Vitest | undefined;
try {
  const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root, encoding: "utf8" });
  for (const file of files.trim().split("\n")) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file), { verbatimSymlinks: true });
  }
  for (const packages of ["node_modules", "ui/node_modules"]) symlinkSync(join(root, packages), join(copy, packages));
  process.chdir(copy);
  // One process transforms what all files share, and one worker loads it.
  process.env.VITEST_MAX_WORKERS = "1";
  vitest = await createVitest("test", {
    root: copy,
    watch: false,
    project: "unit",
    bail: 1,
    reporters: [{}],
    testTimeout: 60_000,
  });
  await vitest.globTestSpecifications();
  const finders = new Set<string>();
  const missed: Mutant[] = [];
  for (const mutant of chosen) {
    const finder = await finderOf(vitest, mutant);
    if (finder !== undefined) {
      finders.add(finder);
      say(`${mutant.file}: found by ${finder}`);
    } else {
      missed.push(mutant);
      const reason = mutant.unfound === undefined ? "" : ` (${mutant.unfound})`;
      say(`NOT FOUND ${mutant.file}${reason}\n  - ${mutant.old}\n  + ${mutant.new}`);
    }
  }
  const broken = await failing(vitest, [...finders]);
  if (broken !== undefined) throw new Error(`${broken} also fails without a mutant: correct it first`);
  say(`${chosen.length - missed.length} of ${chosen.length} mutants found`);
  const isComplete =
    missed.every(({ unfound }) => unfound !== undefined) && missed.length <= mutants.length - leastFound;
  // Vitest sets it when a test fails.
  process.exitCode = isComplete ? 0 : 1;
} finally {
  await vitest?.close();
  rmSync(copy, { recursive: true, force: true });
}
