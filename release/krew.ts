import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { stringify } from "yaml";
import type { CliArchive } from "./cli-archives.ts";
import type { Project } from "./project.ts";

/** Writes the manifest with which krew installs `kubectl wave` from the archives of this release. */
export async function writeKrewManifest(project: Project, archives: readonly CliArchive[]): Promise<string> {
  const { name, version, description, repository, out } = project;
  const platforms = archives.map(async ({ file, system, architecture }) => ({
    selector: { matchLabels: { os: system, arch: architecture } },
    uri: `${repository}/releases/download/v${version}/${basename(file)}`,
    sha256: createHash("sha256")
      .update(await readFile(file))
      .digest("hex"),
    files: [{ from: `${name}-${version}/*`, to: "." }],
    bin: "bin/kubectl-wave",
  }));
  const manifest = {
    apiVersion: "krew.googlecontainertools.github.com/v1alpha2",
    kind: "Plugin",
    metadata: { name },
    spec: {
      version: `v${version}`,
      homepage: repository,
      shortDescription: "Show and control rollouts of changed configuration",
      description: `${description}.\n`,
      caveats: "macOS needs Node 24 or newer on the PATH.\n",
      platforms: await Promise.all(platforms),
    },
  };
  const file = join(out, "files", `${name}.krew.yaml`);
  await writeFile(file, stringify(manifest));
  return file;
}
