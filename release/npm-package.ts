import { cp, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "./command.ts";
import { type Project, root } from "./project.ts";

/** Packs the command line as a package of npm and returns its path. */
export async function packNpm(project: Project, bundle: string): Promise<string> {
  const { name, version, description, license, repository, out } = project;
  const folder = join(out, "stage", "npm");
  await rm(folder, { recursive: true, force: true });
  await cp(bundle, folder, { recursive: true });
  const programs = ["wave", "kubectl-wave", "kubectl_complete-wave"];
  await mkdir(join(folder, "bin"));
  for (const program of programs)
    await cp(join(root, `release/cli/${program}.js`), join(folder, "bin", `${program}.js`));
  await cp(join(root, "release/cli/start.js"), join(folder, "lib/start.js"));
  const manifest = {
    // The owner of the repository is the scope: the name without one belongs to another package.
    name: `@${repository.split("/").at(-2)}/${name}`,
    version,
    description,
    license,
    repository: { type: "git", url: `git+${repository}.git` },
    type: "module",
    engines: { node: ">=24" },
    bin: Object.fromEntries(programs.map((program) => [program, `bin/${program}.js`])),
  };
  await writeFile(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  await cp(join(root, "README.md"), join(folder, "README.md"));
  const packed = await run("npm", ["pack", "--silent", "--pack-destination", join(out, "stage")], { cwd: folder });
  const file = join(out, "files", `${name}-npm-${version}.tgz`);
  await rename(join(out, "stage", packed), file);
  return file;
}
