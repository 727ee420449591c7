import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "test/*.test.ts", "test/simulation/**/*.test.ts"],
          setupFiles: "test/properties-setup.ts",
          // As long as a busy machine needs.
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: "suites",
          include: ["test/*/**/*.test.ts"],
          exclude: ["test/simulation/**", "test/node/**", "test/docs/**"],
          globalSetup: "test/control-plane/global-setup.ts",
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // One API server serves all suites: more at once than this only makes them wait for it.
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: "docs",
          include: ["test/docs/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
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
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // One node at a time, and nothing beside it: when all others are through.
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
