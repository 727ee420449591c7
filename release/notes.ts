import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Project, root } from "./project.ts";

/** Returns the section of a version in the changelog, without its heading. @throws Error if it has none, or no date. */
export async function sectionOf(version: string): Promise<string> {
  const changelog = await readFile(join(root, "CHANGELOG.md"), "utf8");
  const [, ...sections] = changelog.split(/^## /m);
  const section = sections.find((text) => text.startsWith(`${version} — `));
  if (section === undefined)
    throw new Error(`CHANGELOG.md has no section ${version}; run npm run release -- --prepare`);
  const [heading = "", ...lines] = section.split("\n");
  if (!/ — \d{4}-\d{2}-\d{2}$/.test(heading)) {
    throw new Error(`CHANGELOG.md has no date for ${version}; run npm run release -- --prepare ${version}`);
  }
  return lines.join("\n").trim();
}

/** Returns the first sentence of each change of a version. */
export async function changesOf(version: string): Promise<readonly string[]> {
  const items = Array.from((await sectionOf(version)).matchAll(/^- ((?:.|\n {2})*)/gm), ([, text = ""]) => text);
  return items.map((text) => plain(text.replaceAll("\n  ", " ")).replace(/\. .*$/, "."));
}

/** Returns Markdown without links and marks. */
const plain = (text: string) => text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/[`*]/g, "");

/** Writes the notes of the release from its section in the changelog, with links that work outside of the repository. */
export async function writeNotes({ version, repository, out }: Project): Promise<string> {
  const section = await sectionOf(version);
  const file = join(out, "release-notes.md");
  await writeFile(file, `${section.replaceAll(/\]\((?!https?:)([^)]+)\)/g, `](${repository}/blob/v${version}/$1)`)}\n`);
  return file;
}
