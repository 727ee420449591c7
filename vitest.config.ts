import { defineConfig } from "vitest/config";

/** No measures, but as long as a very busy machine needs: what is awaited ends a test as soon as it is there. */
const patience = { testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: { timeout: 60_000 } } };

/** Tells what Wave did where a test fails. */
const failures = "test/control-plane/failure-setup.ts";

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["{src,sandbox}/**/*.test.ts", "test/*.test.ts", "test/simulation/**/*.test.ts"],
          setupFiles: "test/support/properties-setup.ts",
          ...patience,
        },
      },
      {
        test: {
          name: "suites",
          include: ["test/*/**/*.test.ts"],
          exclude: ["test/simulation/**", "test/node/**", "test/docs/**"],
          globalSetup: "test/control-plane/global-setup.ts",
          setupFiles: failures,
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
