import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "./command.ts";
import { type Project, root } from "./project.ts";

/** The architectures of the image. */
export const architectures = ["amd64", "arm64"] as const;

/** An image for several architectures in a folder with the layout of OCI. */
export interface BuiltImage {
  readonly folder: string;
  /** The digest of its index. */
  readonly digest: string;
  readonly platforms: readonly ImagePlatform[];
}

/** The image for one architecture: its digest, and a file with the list of contents that is in it. */
export interface ImagePlatform {
  readonly digest: string;
  readonly sbom: string;
}

interface Descriptor {
  readonly digest: string;
  readonly platform?: { readonly architecture: string };
}

/** Builds the image for all architectures with buildah. The same commit makes the same digest. */
export async function buildImage({ name, version, out }: Project): Promise<BuiltImage> {
  const folder = join(out, "image");
  const list = `localhost/${name}-release:${version}`;
  await rm(folder, { recursive: true, force: true });
  // In mounts of its own, which end with it, if this user may make some: buildah leaves some.
  const alone = process.getuid?.() === 0 ? ["unshare", "--mount"] : [];
  const buildah = (...args: string[]) => {
    const [program = "", ...rest] = [...alone, "buildah", ...args];
    return run(program, rest, { cwd: root });
  };
  // The list of an interrupted release.
  await run("buildah", ["manifest", "rm", list], { quiet: true }).catch(() => undefined);
  for (const architecture of architectures) {
    const target = ["--platform", `linux/${architecture}`, "--manifest", list];
    await buildah("bud", "-q", "--layers", "--timestamp", "0", ...target, "-f", "deploy/image/Dockerfile", ".");
  }
  await buildah("manifest", "push", "-q", "--all", "--format", "oci", list, `oci:${folder}:${version}`);
  await buildah("manifest", "rm", list);
  const { manifests } = await readJson<{ manifests: readonly [Descriptor] }>(join(folder, "index.json"));
  const { digest } = manifests[0];
  const index = await readJson<{ manifests: readonly Descriptor[] }>(blob(folder, digest));
  const platforms = index.manifests.map(async (manifest) => {
    return { digest: manifest.digest, sbom: await extractSbom(folder, manifest, join(out, "files")) };
  });
  return { folder, digest, platforms: await Promise.all(platforms) };
}

/** Writes the list of contents of one image of the index into a file of its own, and returns the path. */
async function extractSbom(folder: string, { digest, platform }: Descriptor, to: string): Promise<string> {
  const { layers } = await readJson<{ layers: readonly Descriptor[] }>(blob(folder, digest));
  const path = "wave/sbom.spdx.json";
  for (const layer of layers.toReversed()) {
    const text = await run("tar", ["-xzOf", blob(folder, layer.digest), path], { quiet: true }).catch(() => "");
    if (text === "") continue;
    await mkdir(to, { recursive: true });
    const file = join(to, `image-${platform?.architecture}.spdx.json`);
    await writeFile(file, `${text}\n`);
    return file;
  }
  throw new Error(`the image for ${platform?.architecture} has no ${path}`);
}

const blob = (folder: string, digest: string) => join(folder, "blobs", digest.replace(":", "/"));

async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(path, "utf8"));
}
