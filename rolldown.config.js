import { fileURLToPath } from "node:url";

/** The bundle that `bin/wave` runs: one entry, a chunk for each part that only some commands import. */
export default {
  cwd: fileURLToPath(new URL(".", import.meta.url)),
  input: "src/main.ts",
  platform: "node",
  output: { dir: "dist", format: "esm", entryFileNames: "main.js", chunkFileNames: "[name]-[hash].js", cleanDir: true },
};
