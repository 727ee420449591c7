import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Not a measure: as long as a very busy machine needs. A condition that is awaited ends a test as soon as it holds. */
const patience = { testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: { timeout: 60_000 } } };

/** Starts the simulation first: its two files take as long as all other units together, and workers stand idle behind them. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => moduleId.endsWith("-seeds.test.ts");
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/** Prints the log of Wave when a test fails. */
const failures = "test/control-plane/failure-setup.ts";

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    coverage: { include: ["src/**/*.ts"], reporter: ["text-summary", "html"], reportsDirectory: "coverage" },
    projects: [
      {
        test: {
          name: "unit",
          include: ["{src,sandbox}/**/*.test.ts", "test/*.test.ts", "test/simulation/**/*.test.ts"],
          setupFiles: "test/support/properties-setup.ts",
          ...patience,
          // One for each core: by default one core is left over, which doubles the time on two.
          maxWorkers: availableParallelism(),
        },
      },
      {
        test: {
          name: "suites",
          include: ["test/*/**/*.test.ts"],
          exclude: ["test/simulation/**", "test/node/**", "test/docs/**"],
          globalSetup: "test/control-plane/global-setup.ts",
          setupFiles: [failures, "test/support/properties-setup.ts"],
          ...patience,
          // One API server serves all suites: more at once than this only makes them wait for it.
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: "docs",
          include: ["test/docs/**/*.test.ts"],
          setupFiles: failures,
          ...patience,
          // It has a control plane of its own, so nothing stands beside it.
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: "node",
          include: ["test/node/**/*.test.ts"],
          globalSetup: "test/node/global-setup.ts",
          setupFiles: failures,
          ...patience,
          // One node at a time, and nothing beside it: when all others are through.
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
