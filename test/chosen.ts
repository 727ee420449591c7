// Prints the files of tests that `.ci/run` adds to `npm test`, or with --tools the commands that install what these and `npm test` need.
import { execFileSync } from "node:child_process";
import { alsoInCi, suiteOf, testFiles, tools } from "./suites.ts";

const git = (...args: readonly string[]) => execFileSync("git", args, { encoding: "utf8" }).trim();
const [base = "HEAD~1", ...flags] = process.argv.slice(2);
const changed = git("diff", "--name-only", base).split("\n");
const also = alsoInCi(changed, Number(git("rev-list", "--count", "HEAD")));
if (flags.includes("--tools")) {
  const run = [...also, ...testFiles().filter((file) => suiteOf(file).tier === "test")].map(suiteOf);
  const needed = new Set(run.flatMap(({ needs, uses }) => [...needs, ...uses]));
  for (const name of needed) process.stdout.write(`${tools[name].install}\n`);
} else process.stdout.write(also.map((file) => `${file}\n`).join(""));
