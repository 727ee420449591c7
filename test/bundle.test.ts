import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..");

/** The texts of the chunks that a file of the bundle imports, now or later, its own first. */
function chunksFrom(file: string, seen = new Set<string>()): readonly string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  const text = readFileSync(join(root, "dist", file), "utf8");
  const imported = text.matchAll(/(?:from |import\()"\.\/([^"]+)"/g);
  return [text, ...Array.from(imported, ([, name = ""]) => name).flatMap((name) => chunksFrom(name, seen))];
}

it("makes a bundle of which V8 keeps a byte a character, and no ES module of one of Node's own", () => {
  execFileSync(join(root, "bin/wave"), ["version"]);
  const chunks = chunksFrom("main.js");
  expect(chunks.length).toBeGreaterThan(10);
  for (const chunk of chunks) {
    expect(chunk).not.toMatch(/[^\0-\xff]/);
    expect(chunk).not.toMatch(/^\s*import .*"node:/m);
  }
});
