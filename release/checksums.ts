import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Writes the SHA-256 of all files in a folder into `checksums.txt` there, as `sha256sum --check` reads it. Returns the path. */
export async function writeChecksums(folder: string): Promise<string> {
  const file = join(folder, "checksums.txt");
  const names = (await readdir(folder)).filter((name) => !name.startsWith("checksums.")).toSorted();
  const lines = names.map(async (name) => {
    const digest = createHash("sha256").update(await readFile(join(folder, name)));
    return `${digest.digest("hex")}  ${name}\n`;
  });
  await writeFile(file, (await Promise.all(lines)).join(""));
  return file;
}
