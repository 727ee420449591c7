import { globSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./fences.ts";

interface MiniSearch {
  search(words: string): readonly { readonly id: string }[];
}

/** Fields and weights of VitePress's search box (VPLocalSearchBox.vue), before the options of the site. */
const ofVitePress = { fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2, titles: 1 } };

/**
 * Returns the search of a built site: a function that returns the addresses of its results, best first. It loads the index of the site with the
 * library and the options of VitePress, without a browser, so that many questions take seconds on a slow machine.
 */
export async function builtSearch(folder: string): Promise<(words: string) => readonly string[]> {
  const require = createRequire(join(root, "site/node_modules/vitepress/package.json"));
  const { default: library } = await import(pathToFileURL(require.resolve("minisearch")).href);
  const { searchOptions } = await import(pathToFileURL(join(root, "site/.vitepress/search.js")).href);
  const [file] = globSync("assets/**/*localSearchIndex*.js", { cwd: folder });
  if (file === undefined) throw new Error(`${folder} has no search index`);
  const { default: index } = await import(pathToFileURL(join(folder, file)).href);
  const loaded: MiniSearch = (library.default ?? library).loadJSON(index, {
    fields: ["title", "titles", "text"],
    storeFields: ["title", "titles"],
    searchOptions: { ...ofVitePress, ...searchOptions },
  });
  return (words) => loaded.search(words).map(({ id }) => id.replace(/#.*$/, ""));
}
