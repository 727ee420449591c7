import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./command.ts";
import { root } from "./project.ts";

/** The files besides package.json that name the current version. `npm run chart` renders further files from them. */
const naming = ["README.md", "docs/*.md", "deploy/chart/Chart.yaml", "deploy/image/Dockerfile"];

/** Where these files name it: as the tag of an image, as the version of the chart, in the name of an archive. */
const mention =
  /(?<=\bwave:|\bwave-(?:cli-|npm-)?|\bnewTag: |\btag: |\btargetRevision: |\/wave@v|^(?:appV|v)ersion: |--version )\d+\.\d+\.\d+(?!\.?\d)/gm;

/** Returns all versions that the files of the project name, each with its file. */
export function namedVersions(): readonly { readonly file: string; readonly version: string }[] {
  return globSync(naming, { cwd: root }).flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    return Array.from(text.matchAll(mention), ([version]) => ({ file, version }));
  });
}

/** Writes a version into every file that names it, and the date of the release into the changelog. Commits nothing. */
export async function prepare(version: string, today: Date): Promise<void> {
  await run("npm", ["version", version, "--no-git-tag-version", "--allow-same-version"], { cwd: root });
  for (const file of globSync(naming, { cwd: root })) {
    change(file, (text) => text.replaceAll(mention, version));
  }
  const date = today.toISOString().slice(0, 10);
  change("CHANGELOG.md", (text) => {
    const dated = text.replace(/^## \S+ — unreleased$/m, `## ${version} — ${date}`);
    if (dated === text)
      throw new Error("CHANGELOG.md has no section with the heading `## X.Y.Z — unreleased`; add one");
    return dated;
  });
  await run("npm", ["run", "-s", "chart"], { cwd: root });
}

function change(file: string, edit: (text: string) => string): void {
  const path = join(root, file);
  const before = readFileSync(path, "utf8");
  const after = edit(before);
  if (after !== before) writeFileSync(path, after);
}
