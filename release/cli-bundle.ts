import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { scripts, shells } from "../src/cli/completion/completion.ts";
import { run } from "./command.ts";
import { type Project, root } from "./project.ts";

/** The files that shells load for completion, by the shell. */
const completionFiles = { bash: "wave.bash", zsh: "_wave", fish: "wave.fish" } as const;

/** Makes the folder with what all forms of the command line have: its bundle, licences and completions. Returns the folder. */
export async function bundleCli({ version, license, out }: Project): Promise<string> {
  const folder = join(out, "stage", "cli");
  await rm(folder, { recursive: true, force: true });
  const rolldown = [join(root, "node_modules/rolldown/bin/cli.mjs"), "--config", join(root, "rolldown.config.js")];
  await run(process.execPath, [...rolldown, "--dir", join(folder, "lib"), "--log-level", "warn"], { cwd: root });
  await writeFile(
    join(folder, "lib", "package.json"),
    `${JSON.stringify({ name: "wave", version, license, type: "module" })}\n`,
  );
  await mkdir(join(folder, "completions"));
  for (const shell of shells) await writeFile(join(folder, "completions", completionFiles[shell]), scripts[shell]);
  await mkdir(join(folder, "licenses"));
  await cp(join(root, "LICENSE"), join(folder, "LICENSE"));
  for (const path of [
    "node_modules/re2js",
    "node_modules/yaml",
    "ui/node_modules/preact",
    "ui/node_modules/@preact/signals",
  ])
    await cp(join(root, path, "LICENSE"), join(folder, "licenses", basename(path)));
  return folder;
}
