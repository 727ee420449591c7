import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const { version } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));

/** The bundle that `bin/wave` runs: one entry, a chunk for each part that only some commands import. */
export default {
  cwd: fileURLToPath(new URL(".", import.meta.url)),
  input: "src/main.ts",
  platform: "node",
  transform: { define: { bundledVersion: JSON.stringify(version) } },
  output: { dir: "dist", format: "esm", entryFileNames: "main.js", chunkFileNames: "[name]-[hash].js" },
};
