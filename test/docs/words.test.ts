import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "./fences.ts";

const most = { pages: 27, words: 28_900 };

/** Returns the number of words that a reader of a page sees, with tables and blocks of code. */
function wordsOf(page: string): number {
  const shown = readFileSync(join(root, page), "utf8")
    .replace(/<!--[\s\S]*?-->/g, "")
    .replace(/\]\([^)]*\)/g, "]");
  return shown.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

it(`users read at most ${most.pages} pages and ${most.words} words`, () => {
  const pages = globSync("docs/**/*.md", { cwd: root }).sort();
  const words = pages.reduce((sum, page) => sum + wordsOf(page), 0);
  const lines = pages.map((page) => `${String(wordsOf(page)).padStart(6)} ${page}`);
  process.stdout.write(`${[...lines, `${String(words).padStart(6)} in ${pages.length} pages`].join("\n")}\n`);
  expect(pages.length).toBeLessThanOrEqual(most.pages);
  expect(words).toBeLessThanOrEqual(most.words);
});
