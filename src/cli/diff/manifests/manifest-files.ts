import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { errorText } from "../../../telemetry/logging/error-text.ts";
import { UsageError } from "../../flags/usage-error.ts";
import { manifestErrorTexts } from "./manifest-error-texts.ts";

/** A text with manifests, and its name in messages. */
export interface ManifestFile {
  readonly name: string;
  readonly text: string;
}

/** The limit for all manifests together; a chart with a thousand objects has a tenth of this. */
const mostBytes = 32 * 1024 * 1024;

/**
 * Reads files, folders with all *.yaml, *.yml and *.json below them in name order, and standard input for `-`. Throws a UsageError with the
 * name of a file that cannot be read, or if the texts exceed the limit.
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

/** Reads at most this number of bytes: a device never ends, and the reported size of a file may be wrong. */
async function readAtMost(most: number, content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of content) {
    bytes += part.byteLength;
    if (bytes > most) throw new UsageError(manifestErrorTexts.tooLarge(String(mostBytes / 1024 / 1024)));
    parts.push(part);
  }
  return Buffer.concat(parts);
}

async function filesAt(name: string): Promise<readonly string[]> {
  const found = await readable(name, () => stat(name));
  if (!found.isDirectory()) return [name];
  const entries = await readable(name, () => readdir(name, { recursive: true, withFileTypes: true }));
  // Files of a mounted ConfigMap are links. A pipe or device might block forever.
  const files = entries.filter(
    (entry) => (entry.isFile() || entry.isSymbolicLink()) && /\.(ya?ml|json)$/.test(entry.name),
  );
  if (files.length === 0) throw new UsageError(manifestErrorTexts.emptyFolder(name));
  return files.map((entry) => join(entry.parentPath, entry.name)).sort();
}

async function readable<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (error instanceof Error && "code" in error && error.code === "ENOENT")
      throw new UsageError(manifestErrorTexts.fileNotFound(name));
    throw new UsageError(manifestErrorTexts.unreadable(name, errorText(error)));
  }
}
