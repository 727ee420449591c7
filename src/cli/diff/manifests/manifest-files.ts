import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { errorText } from "../../../telemetry/error-text.ts";
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
  let bytes = 0;
  const add = (name: string, content: Uint8Array) => {
    files.push({ name, text: Buffer.from(content).toString("utf8") });
    bytes = within(bytes + content.byteLength);
  };
  for (const name of names) {
    if (name === "-") add("standard input", await readInput(input()));
    else for (const file of await filesAt(name)) add(file, await readable(file, () => readFile(file)));
  }
  return files;
}

function within(bytes: number): number {
  if (bytes <= mostBytes) return bytes;
  throw new UsageError(`the manifests are more than ${mostBytes / 1024 / 1024} MiB: give fewer at once`);
}

async function readInput(input: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of input) {
    bytes = within(bytes + part.byteLength);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

async function filesAt(name: string): Promise<readonly string[]> {
  const found = await readable(name, () => stat(name));
  if (!found.isDirectory()) {
    within(found.size);
    return [name];
  }
  const entries = await readable(name, () => readdir(name, { recursive: true, withFileTypes: true }));
  // Files of a mounted ConfigMap are links.
  const files = entries.filter((entry) => !entry.isDirectory() && /\.(ya?ml|json)$/.test(entry.name));
  if (files.length === 0) throw new UsageError(`${name} has no *.yaml, *.yml or *.json`);
  return files.map((entry) => join(entry.parentPath, entry.name)).sort();
}

async function readable<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new UsageError(`${name} cannot be read: ${errorText(error)}`);
  }
}
