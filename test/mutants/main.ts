// Breaks the code in many small ways, one at a time in a copy, and counts what the unit tests find: those beside the file first, then
// all that reach the file. Usage: npm run mutants [-- PART-OF-A-PATH...]
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Mutant, mutants } from "./rows.ts";

/** How many mutants of all the unit tests must find. */
const leastFound = 57;

/** Tests that take longer have ended by no failure: the mutant is not found. In milliseconds. */
const longestMs = 1_200_000;

const root = join(import.meta.dirname, "../..");
const parts = process.argv.slice(2);
const chosen = mutants.filter(({ file }) => parts.length === 0 || parts.some((part) => file.includes(part)));
const say = (line: string) => process.stdout.write(`${line}\n`);

/** Returns the text of a file with the mutant. Throws if the file does not have the old text exactly once. */
function mutated({ file, old, new: replacement }: Mutant): string {
  const pieces = readFileSync(join(root, file), "utf8").split(old);
  if (pieces.length !== 2)
    throw new Error(`${file} has this text ${pieces.length - 1} times, not once: correct test/mutants/rows.ts\n${old}`);
  return pieces.join(replacement);
}

/** Reports whether a run of tests in the copy fails. */
function fails(copy: string, ...args: readonly string[]): boolean {
  const vitest = ["node_modules/vitest/vitest.mjs", ...args, "--project=unit", "--bail=1", "--reporter=dot"];
  const { status } = spawnSync("bin/node", vitest, {
    cwd: copy,
    stdio: "ignore",
    timeout: longestMs,
    killSignal: "SIGKILL",
  });
  return status !== 0 && status !== null;
}

function isFound(copy: string, mutant: Mutant): boolean {
  const path = join(copy, mutant.file);
  writeFileSync(path, mutated(mutant));
  try {
    return (
      fails(copy, "run", "--passWithNoTests", `${dirname(mutant.file)}/`) ||
      fails(copy, "related", "--run", "--exclude=test/**", mutant.file)
    );
  } finally {
    cpSync(join(root, mutant.file), path);
  }
}

for (const mutant of chosen) mutated(mutant);
const copy = mkdtempSync(join(tmpdir(), "wave-mutants-"));
try {
  const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root, encoding: "utf8" });
  for (const file of files.trim().split("\n")) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file), { verbatimSymlinks: true });
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  const begun = performance.now();
  let found = 0;
  const missed: Mutant[] = [];
  for (const mutant of chosen) {
    if (isFound(copy, mutant)) found++;
    else {
      missed.push(mutant);
      say(
        `NOT FOUND ${mutant.file}${mutant.unfound === undefined ? "" : ` (${mutant.unfound})`}\n  - ${mutant.old}\n  + ${mutant.new}`,
      );
    }
  }
  const seconds = ((performance.now() - begun) / 1000).toFixed(0);
  say(`${found} of ${chosen.length} mutants found; ${seconds} s`);
  const isComplete =
    missed.every(({ unfound }) => unfound !== undefined) && missed.length <= mutants.length - leastFound;
  if (!isComplete) process.exitCode = 1;
} finally {
  rmSync(copy, { recursive: true, force: true });
}
