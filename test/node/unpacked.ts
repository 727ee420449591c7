import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The run configuration of an image. */
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

/** An unpacked image. */
export interface Unpacked {
  readonly image: ImageConfig;
  /** Its root folder. */
  readonly root: string;
  /** The paths in each layer, beginning with the base. */
  readonly layers: readonly (readonly string[])[];
  /** The size of all layers in bytes, and of the layers above the base. */
  readonly size: number;
  readonly ownSize: number;
  readonly remove: () => Promise<void>;
}

/** Unpacks an image from a file that `image` wrote. */
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
