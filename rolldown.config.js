import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const { version } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));

/**
 * Takes Node's own modules as they are. To import one, Node makes an ES module of it with all of its exports, some of which
 * load others.
 */
export const builtins = {
  name: "builtins",
  renderChunk: (code) =>
    code.replaceAll(
      /^import (\{[^}]*\}) from "(node:[^"]+)";$/gm,
      (_, names, module) => `const ${names.replaceAll(" as ", ": ")} = process.getBuiltinModule("${module}");`,
    ),
};

/** Puts the files of the page of `wave ui` beside the bundle. */
const page = {
  name: "page",
  async generateBundle() {
    // The build of the image has no page.
    const { buildPage } = await import("./ui/build.ts");
    for (const [fileName, source] of Object.entries(await buildPage()))
      this.emitFile({ type: "asset", fileName, source });
  },
};

/**
 * The bundle that `bin/wave` runs: one entry, a chunk for each part that only some commands import. V8 keeps the text of
 * what runs, two bytes a character where one is beyond Latin-1: here is none, and no comments. Names and lines stay, for
 * stacks.
 */
export default {
  cwd: fileURLToPath(new URL(".", import.meta.url)),
  input: "src/main.ts",
  platform: "node",
  plugins: [builtins, page],
  transform: { define: { bundledVersion: JSON.stringify(version) } },
  output: {
    dir: "dist",
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    comments: false,
    charset: "ascii",
  },
};
