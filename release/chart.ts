import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pack } from "./archive.ts";
import type { BuiltImage } from "./image.ts";
import { changesOf } from "./notes.ts";
import { type Project, root } from "./project.ts";

/**
 * Packs the chart and returns the path of its archive. With a registry, the default values of the chart name the image of this
 * release there by its digest, so a verified chart installs the verified image. The chart also gets the links to the repository.
 */
export async function packChart(project: Project, image: BuiltImage, registry: string | undefined): Promise<string> {
  const { name, version, repository, commitTime, out } = project;
  const stage = join(out, "stage", "chart");
  const folder = join(stage, name);
  await rm(stage, { recursive: true, force: true });
  await cp(join(root, "deploy/chart"), folder, { recursive: true });
  if (registry !== undefined) {
    await edit(join(folder, "values.yaml"), [
      ["\n  repository: wave\n", `\n  repository: ${registry}/${name}\n`],
      ['\n  digest: ""\n', `\n  digest: ${image.digest}\n`],
    ]);
  }
  const changes = (await changesOf(version)).map((change) => `- ${JSON.stringify(change)}`);
  const images = [
    `- name: ${name}`,
    `  image: ${registry ?? "localhost"}/${name}:${version}`,
    "  platforms: [linux/amd64, linux/arm64]",
  ];
  const page = (path: string) => `${repository}/blob/v${version}/${path}`;
  const links = [
    "- name: Documentation",
    `  url: ${page("docs/index.md")}`,
    "- name: Changes",
    `  url: ${page("CHANGELOG.md")}`,
  ];
  await edit(join(folder, "Chart.yaml"), [
    [
      "\nmaintainers:\n",
      `\nhome: ${repository}\nsources: [${repository}]\nicon: ${repository}/raw/v${version}/site/public/wave.svg\nmaintainers:\n`,
    ],
    [
      "\nannotations:\n",
      `\nannotations:\n${block("artifacthub.io/links", links)}${block("artifacthub.io/changes", changes)}${block("artifacthub.io/images", images)}`,
    ],
  ]);
  const file = join(out, "files", `${name}-${version}.tgz`);
  await mkdir(join(out, "files"), { recursive: true });
  await pack(stage, name, file, commitTime);
  return file;
}

/** Returns an annotation whose value is a block of lines. */
function block(name: string, lines: readonly string[]): string {
  return [`  ${name}: |`, ...lines.map((line) => `    ${line}`), ""].join("\n");
}

/** Replaces each first text, which must be there once, by the second. */
async function edit(file: string, changes: readonly (readonly [string, string])[]): Promise<void> {
  let text = await readFile(file, "utf8");
  for (const [before, after] of changes) {
    if (text.split(before).length !== 2) throw new Error(`${file} does not have this text once: ${before.trim()}`);
    text = text.replace(before, () => after);
  }
  await writeFile(file, text);
}
