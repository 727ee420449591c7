import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const folder = fileURLToPath(new URL(".", import.meta.url));

/** Builds the page of `wave ui`. Resolves to the text of each of its files, by file name. */
export async function buildPage(): Promise<Readonly<Record<string, string>>> {
  await using bundle = await rolldown({
    cwd: folder,
    input: "src/main.tsx",
    platform: "browser",
    tsconfig: "tsconfig.json",
  });
  const { output } = await bundle.generate({ format: "esm", minify: true, comments: false });
  return {
    "page.html": readFileSync(`${folder}src/page.html`, "utf8"),
    "page.css": readFileSync(`${folder}src/page.css`, "utf8"),
    "page.js": output[0].code,
  };
}
