import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { unitFolder } from "./test/support/unit-folder.ts";

/** Not a measure: as long as a very busy machine needs. A condition that is awaited ends a test as soon as it holds. */
const patience = { testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: { timeout: 60_000 } } };

/**
 * Starts the longest files first, which take minutes: the simulation, the pages that are followed, and suites that wait for clocks. Otherwise
 * workers stand idle behind them.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) =>
      /(-seeds|\/docs\/(snippets|site|walks)|\/(mixed-\w+|rotation|chaos|faults|diff))\.test\.ts$/.test(moduleId);
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/** A suite on a control plane waits for about half of its time. More workers than this make tests fail that wait for a clock. */
const shared = { maxWorkers: availableParallelism() + 1 };

/** Prints the log of Wave when a test fails. */
const failures = "test/control-plane/failure-setup.ts";

/** The suite that installs a release needs the real node too. */
const onNode = "test/release/release.test.ts";

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    coverage: { include: ["src/**/*.ts"], reporter: ["text-summary", "html"], reportsDirectory: "coverage" },
    projects: [
      {
        test: {
          name: "unit",
          include: ["{src,sandbox}/**/*.test.ts", "test/*.test.ts", "test/simulation/**/*.test.ts"],
          globalSetup: "test/support/unit-folder.ts",
          env: { TMPDIR: unitFolder },
          setupFiles: "test/support/properties-setup.ts",
          ...patience,
          ...shared,
        },
      },
      {
        test: {
          name: "suites",
          include: ["test/*/**/*.test.ts"],
          exclude: ["test/simulation/**", "test/node/**", "test/docs/**", onNode],
          globalSetup: "test/control-plane/global-setup.ts",
          setupFiles: [failures, "test/support/properties-setup.ts"],
          ...patience,
          ...shared,
        },
      },
      {
        test: {
          name: "docs",
          include: ["test/docs/**/*.test.ts"],
          setupFiles: failures,
          ...patience,
          ...shared,
        },
      },
      {
        test: {
          name: "node",
          include: ["test/node/**/*.test.ts", onNode],
          globalSetup: "test/node/global-setup.ts",
          setupFiles: failures,
          ...patience,
          // One node at a time, and nothing beside it: when all others are through.
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
