import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** What an image says of how it is run. */
export interface ImageConfig {
  readonly architecture: string;
  readonly config: {
    readonly User: string;
    readonly Env: readonly string[];
    readonly Entrypoint: readonly string[];
    readonly Cmd: readonly string[];
    readonly WorkingDir: string;
  };
}

/** An image that is laid out as files. */
export interface Unpacked {
  readonly image: ImageConfig;
  /** Its root folder. */
  readonly root: string;
  /** The paths in each layer, the base's first. */
  readonly layers: readonly (readonly string[])[];
  /** Of all layers, in bytes, and of those that are not the base's. */
  readonly size: number;
  readonly ownSize: number;
  readonly remove: () => Promise<void>;
}

/** Lays out an image from a file as `image` makes it. */
export async function unpack(file: string): Promise<Unpacked> {
  const folder = await mkdtemp(join(tmpdir(), "wave-unpacked-"));
  const [archive, root] = [join(folder, "archive"), join(folder, "root")];
  for (const each of [archive, root]) await mkdir(each);
  await run("tar", ["-xf", file, "-C", archive]);
  const read = async (name: string) => JSON.parse(await readFile(join(archive, name), "utf8"));
  const [manifest] = (await read("manifest.json")) as [{ readonly Config: string; readonly Layers: readonly string[] }];
  const layers: string[][] = [];
  const sizes: number[] = [];
  for (const layer of manifest.Layers) {
    const { stdout } = await run("tar", ["-xvf", join(archive, layer), "-C", root], { maxBuffer: 64 * 1024 * 1024 });
    layers.push(stdout.split("\n").filter((path) => path !== "" && !path.endsWith("/")));
    sizes.push((await stat(join(archive, layer))).size);
  }
  const size = sizes.reduce((sum, each) => sum + each, 0);
  return {
    image: await read(manifest.Config),
    root,
    layers,
    size,
    ownSize: size - (sizes[0] ?? 0),
    remove: () => rm(folder, { recursive: true }),
  };
}
