import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, parseCLI, type TestSpecification } from "vitest/node";
import { affectedBy, leftOut, missingOnes, rowOf, suiteOf, testFiles } from "./test/suites.ts";
import { CostReporter } from "./test/support/cost-reporter.ts";
import { unitFolder } from "./test/support/unit-folder.ts";

/** Not a measure: as long as a very busy machine needs. A condition that is awaited ends a test as soon as it holds. */
const patience = { testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: { timeout: 60_000 } } };

const { filter, options } = parseCLI(["vitest", ...process.argv.slice(2)]);

/** A run of named paths runs everything in them. */
const everything = process.env.WAVE_TESTS === "all" || filter.length > 0;

const missing = missingOnes();
if (process.env.CI && missing.has("control plane") && filter.length === 0)
  throw new Error("in CI, the control plane must be installed: npm run control-plane");

const files = testFiles();
const isPossible = (file: string) => suiteOf(file).needs.every((tool) => !missing.has(tool));
const changed = options.changed === undefined ? undefined : changedFiles(options.changed);
const affected = changed && affectedBy(changed);
const run = new Set(
  affected === undefined
    ? files.filter((file) => isPossible(file) && (everything || suiteOf(file).tier === "test"))
    : [...affected.near, ...files.filter((file) => isPossible(file) && changed?.includes(file))],
);

/** Returns the files that git reports as changed. */
function changedFiles(since: string | boolean): readonly string[] {
  const git = (...args: string[]) => execFileSync("git", args, { encoding: "utf8" }).trim().split("\n");
  const base = typeof since === "string" ? since : "HEAD";
  return [...git("diff", "--name-only", base), ...git("ls-files", "--others", "--exclude-standard")];
}

/** Returns the end of the report: what the run leaves out, and the command that runs it. */
function rest(): string | undefined {
  if (affected !== undefined)
    return `Left out: ${affected.far.length} files of tests that load the change through many imports. Run them: npm test`;
  return filter.length > 0 ? undefined : leftOut(files, run, missing);
}

/** Starts the files in the order of the table of suites. */
class InOrder extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const row = ({ moduleId }: TestSpecification) => rowOf(relative(import.meta.dirname, moduleId));
    return (await super.sort(specifications)).sort((a, b) => row(a) - row(b));
  }
}

/** The files of one project. Vitest runs its own default files if a project has none. */
const include = (isIncluded: (needs: readonly string[], uses: readonly string[]) => boolean) => {
  const included = [...run].filter((file) => isIncluded(suiteOf(file).needs, suiteOf(file).uses));
  return included.length > 0 ? included : ["no files"];
};

const setup = ["test/support/cost-setup.ts", "test/support/properties-setup.ts"];
const shared = {
  ...patience,
  provide: { everything },
  // A suite on a control plane waits for about half of its time. More workers than this make tests fail that wait for a clock.
  maxWorkers: availableParallelism() + 1,
};

const unit = {
  ...shared,
  globalSetup: "test/support/unit-folder.ts",
  // A process of a test compiles nothing that another process of the run has compiled.
  env: { TMPDIR: unitFolder, NODE_COMPILE_CACHE: join(unitFolder, "compiled") },
  setupFiles: setup,
};

const isUnit = (needs: readonly string[], uses: readonly string[]) => ![...needs, ...uses].includes("control plane");

/** Prints the log of Wave when a test fails. */
const onPlane = { ...shared, setupFiles: [...setup, "test/control-plane/failure-setup.ts"] };

export default defineConfig({
  test: {
    sequence: { sequencer: InOrder },
    coverage: { include: ["src/**/*.ts"], reporter: ["text-summary", "html"], reportsDirectory: "coverage" },
    reporters: ["default", new CostReporter(rest())],
    projects: [
      {
        test: {
          name: "unit",
          ...unit,
          include: include(isUnit),
          // One process runs many files, so that it imports and compiles what they share once.
          isolate: false,
        },
      },
      {
        test: {
          name: "suites",
          include: include((needs, uses) => !needs.includes("node") && [...needs, ...uses].includes("control plane")),
          globalSetup: "test/control-plane/global-setup.ts",
          ...onPlane,
        },
      },
      {
        test: {
          name: "node",
          include: include((needs) => needs.includes("node")),
          globalSetup: "test/node/global-setup.ts",
          ...onPlane,
          // One node at a time, and nothing beside it: when all others are through.
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
