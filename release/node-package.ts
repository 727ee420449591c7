import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "./command.ts";
import { root } from "./project.ts";

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version: string; readonly integrity: string }>>;
}

/**
 * Fetches a package with Node in the version of the lockfile and unpacks it in a folder. Returns the folder of its files.
 * @throws Error if the package differs from the lockfile, or its program differs from `bin/node.sha256`.
 */
export async function unpackNode(name: string, parent: string): Promise<string> {
  const lock: Lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8"));
  const { version, integrity } = lock.packages[`node_modules/${name}`] ?? {};
  const folder = join(parent, "node");
  await mkdir(folder, { recursive: true });
  const file = await run("npm", ["pack", "--silent", "--pack-destination", folder, `${name}@${version}`], {
    cwd: root,
  });
  const archive = await readFile(join(folder, file));
  if (`sha512-${createHash("sha512").update(archive).digest("base64")}` !== integrity) {
    throw new Error(`${name}@${version} differs from package-lock.json`);
  }
  await run("tar", ["-xzf", join(folder, file), "-C", folder, "--strip-components=1"]);
  const program = await readFile(join(folder, "bin/node"));
  const line = `${createHash("sha256").update(program).digest("hex")}  ${name}/bin/node`;
  const known = (await readFile(join(root, "bin/node.sha256"), "utf8")).split("\n");
  if (!known.includes(line)) throw new Error(`the program of ${name}@${version} differs from bin/node.sha256`);
  return folder;
}
