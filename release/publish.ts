import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { run } from "./command.ts";
import type { BuiltImage } from "./image.ts";
import type { Project } from "./project.ts";

/** What a release has pushed: addresses with digests. */
export interface Published {
  readonly image: string;
  readonly chart: string;
}

/**
 * Pushes the image and the chart. The registry gets the bytes that were built, so their digests stay.
 * @throws Error if the registry has other content for this version: people have verified it, and may run it.
 */
export async function publish(
  project: Project,
  image: BuiltImage,
  chart: string,
  registry: string,
): Promise<Published> {
  const { name, version } = project;
  const address = `${registry}/${name}`;
  const charts = `${registry}/charts/${name}`;
  const [oldImage, oldChart] = [await manifestOf(`${address}:${version}`), await manifestOf(`${charts}:${version}`)];
  if (oldImage !== undefined && digestOf(oldImage) !== image.digest) throw otherContent(address, version);
  const layers: readonly { readonly digest: string }[] = oldChart === undefined ? [] : JSON.parse(oldChart).layers;
  const layer = layers[0]?.digest;
  if (oldChart !== undefined && layer !== digestOf(await readFile(chart))) throw otherContent(charts, version);

  const source = `oci:${image.folder}:${version}`;
  await run("skopeo", ["copy", "--quiet", "--all", "--preserve-digests", source, `docker://${address}:${version}`]);
  await run("helm", ["push", chart, `oci://${registry}/charts`]);
  const manifest = await manifestOf(`${charts}:${version}`);
  if (manifest === undefined) throw new Error(`${charts}:${version} cannot be read after its push`);
  return { image: `${address}@${image.digest}`, chart: `${charts}@${digestOf(manifest)}` };
}

/** Returns the manifest at an address; undefined if there is none. */
function manifestOf(address: string): Promise<string | undefined> {
  return run("skopeo", ["inspect", "--raw", `docker://${address}`], { quiet: true }).catch(() => undefined);
}

function digestOf(content: string | Buffer): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}

function otherContent(address: string, version: string): Error {
  return new Error(`${address}:${version} exists with other content; release another version`);
}
