import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** One import: the path of a file from the root of the project, and what it imports as the file writes it. */
export interface Import {
  readonly file: string;
  readonly target: string;
}

/** Returns the imports of a file, also those of types and packages. */
export function importsOf(file: string): readonly Import[] {
  return importsIn(file, readFileSync(file, "utf8"));
}

function importsIn(file: string, text: string): readonly Import[] {
  const specifiers = text.matchAll(/\b(?:from|import)\s*\(?\s*"([^"]+)"/g);
  return Array.from(specifiers, ([, target = ""]) => ({ file, target }));
}

/** An import of types only loads nothing when a test runs. */
const typeImports = /^(?:import|export) type [^;]*? from "[^"]+";$/gm;

/**
 * Returns the path and the distance of each file that loads one of `files` when it runs, the nearest first. The files themselves are at
 * distance 0, those that import them at distance 1.
 */
export function importersOf(files: readonly string[]): ReadonlyMap<string, number> {
  const importers = Map.groupBy(
    globSync(["{src,sandbox,test,deploy,bench,release,action}/**/*.ts", "ui/**/*.{ts,tsx}"], {
      exclude: ["**/node_modules/**"],
    }).flatMap((file) => importsIn(file, readFileSync(file, "utf8").replace(typeImports, ""))),
    ({ file, target }) => join(dirname(file), target),
  );
  const distances = new Map(files.map((file) => [file, 0]));
  // The loop also visits the entries that it adds.
  for (const [file, distance] of distances)
    for (const { file: importer } of importers.get(file) ?? [])
      if (!distances.has(importer)) distances.set(importer, distance + 1);
  return distances;
}
