import { chmod, readdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { run } from "./command.ts";

/**
 * Packs a folder into a gzipped tar file. The same content makes the same bytes: no owners, no times but `time`, sorted names,
 * and one mode for all files that are executable and one for all others.
 */
export async function pack(parent: string, folder: string, file: string, time: number): Promise<void> {
  await normalizeModes(join(parent, folder));
  const owner = ["--owner=0", "--group=0", "--numeric-owner"];
  const form = ["--format=ustar", "--sort=name", `--mtime=@${time}`, ...owner, "--use-compress-program=gzip -n -6"];
  await run("tar", ["-C", parent, ...form, "-cf", file, folder]);
  // `helm push` writes the time of the file into the manifest of the chart.
  await utimes(file, time, time);
}

async function normalizeModes(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const executable = /(^|\/)bin$/.test(entry.parentPath) || entry.name === "node";
    await chmod(join(entry.parentPath, entry.name), entry.isDirectory() || executable ? 0o755 : 0o644);
  }
  await chmod(folder, 0o755);
}
