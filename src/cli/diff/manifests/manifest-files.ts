import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { errorText } from "../../../telemetry/logging/error-text.ts";
import { UsageError } from "../../flags/usage-error.ts";

/** A text with manifests, and what messages call it. */
export interface ManifestFile {
  readonly name: string;
  readonly text: string;
}

/** All manifests together: a chart of a thousand objects has a tenth of this. */
const mostBytes = 32 * 1024 * 1024;

/**
 * The texts of some files, of folders with all below them (*.yaml, *.yml, *.json, in the order of their names), and of standard
 * input for `-`. Throws a UsageError that says which cannot be read, or that it is too much.
 */
export async function readManifestFiles(
  names: readonly string[],
  input: () => AsyncIterable<Uint8Array>,
): Promise<readonly ManifestFile[]> {
  const files: ManifestFile[] = [];
  let left = mostBytes;
  const add = async (name: string, content: AsyncIterable<Uint8Array>) => {
    const bytes = await readAtMost(left, content);
    left -= bytes.byteLength;
    files.push({ name, text: bytes.toString("utf8") });
  };
  for (const name of names) {
    if (name === "-") await add("standard input", input());
    else for (const file of await filesAt(name)) await readable(file, () => add(file, createReadStream(file)));
  }
  return files;
}

/** What is too much is not read first: a device never ends, and the size of a file is no promise. */
async function readAtMost(most: number, content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of content) {
    bytes += part.byteLength;
    if (bytes > most)
      throw new UsageError(`the manifests are more than ${mostBytes / 1024 / 1024} MiB: give fewer at once`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

async function filesAt(name: string): Promise<readonly string[]> {
  const found = await readable(name, () => stat(name));
  if (!found.isDirectory()) return [name];
  const entries = await readable(name, () => readdir(name, { recursive: true, withFileTypes: true }));
  // Files of a mounted ConfigMap are links; what is a pipe or a device nobody may ever write to.
  const files = entries.filter(
    (entry) => (entry.isFile() || entry.isSymbolicLink()) && /\.(ya?ml|json)$/.test(entry.name),
  );
  if (files.length === 0) throw new UsageError(`${name} has no *.yaml, *.yml or *.json`);
  return files.map((entry) => join(entry.parentPath, entry.name)).sort();
}

async function readable<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (error instanceof Error && "code" in error && error.code === "ENOENT")
      throw new UsageError(`there is no file or folder ${name}`);
    throw new UsageError(`${name} cannot be read: ${errorText(error)}`);
  }
}
