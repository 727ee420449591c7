import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { ScalarTag } from "yaml";
import { errorText } from "../../../telemetry/logging/log-messages.ts";
import { UsageError } from "../../flags/flag-types.ts";
import { type Json, type Manifest, manifestErrorTexts, manifestsOf } from "./manifest.ts";

/** The limit of objects: far more than a pull request has. */
const mostObjects = 20_000;

/**
 * Parses the objects of files: YAML or JSON documents, as kubectl reads them. Throws a UsageError with the file and line of the mistake,
 * and without the text of that line, which may be a secret value.
 */
export async function parseManifests(files: readonly ManifestFile[]): Promise<readonly Manifest[]> {
  const manifests: Manifest[] = [];
  for (const { name, text } of files) {
    for (const { document, line } of await documentsOf(name, text)) {
      manifests.push(...manifestsOf(document, `${name}:${line}`));
      if (manifests.length > mostObjects)
        throw new UsageError(manifestErrorTexts.tooManyObjects(name, String(mostObjects)));
    }
  }
  return manifests;
}

interface Parsed {
  readonly document: Json;
  /** The first line of the document. */
  readonly line: number;
}

/** Parses the text as JSON if possible, which is much faster than YAML. */
async function documentsOf(name: string, text: string): Promise<readonly Parsed[]> {
  try {
    return [{ document: JSON.parse(text), line: 1 }];
  } catch {
    const parsed: Parsed[] = [];
    for (const part of yamlDocuments(text)) parsed.push({ document: await parseYaml(name, part), line: part.line });
    return parsed;
  }
}

interface Part {
  readonly text: string;
  /** The first line that is not empty or a comment. */
  readonly line: number;
  /** The line of the file on which the text begins. */
  readonly from: number;
}

/** Splits the text at lines that begin with `---`, as kubectl does. Parsing the parts one by one needs little memory. */
function yamlDocuments(text: string): readonly Part[] {
  const parts: Part[] = [];
  let lines: string[] = [];
  let from = 1;
  const end = (next: number) => {
    const first = lines.findIndex((line) => /^\s*[^\s#]/.test(line));
    if (first !== -1) parts.push({ text: lines.join("\n"), line: from + first, from });
    [lines, from] = [[], next];
  };
  for (const [index, line] of text
    .replace(/^\ufeff/, "")
    .split(/\r?\n/)
    .entries()) {
    const separator = /^---(\s|$)/.test(line);
    if (separator) end(index + 1);
    lines.push(separator ? line.slice(3) : line);
  }
  end(0);
  return parts;
}

/** Tags of YAML 1.1 that kubectl does not have, such as times and numbers in base 60, and those that it reads in another way. */
const notInGo = /:(timestamp|binary|omap|pairs|set|int|float)$/;

const number = (tag: string, test: RegExp, read: (digits: string) => number): ScalarTag => ({
  tag: `tag:yaml.org,2002:${tag}`,
  default: true,
  test,
  resolve: (text) => {
    const [, sign, digits = ""] = /^([-+]?)(.*)$/.exec(text.replaceAll("_", "").toLowerCase()) ?? [];
    return sign === "-" ? 0 - read(digits) : read(digits);
  },
});

/**
 * The scalars of kubectl that differ from YAML 1.1: numbers are those of Go (https://pkg.go.dev/strconv#ParseInt), and a binary is a text.
 * See resolve.go in https://github.com/kubernetes-sigs/yaml/tree/master/goyaml.v2.
 */
const goTags: readonly ScalarTag[] = [
  number("int", /^[-+]?(?:0[bB][01_]+|0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[0-7_]*|[1-9][0-9_]*)$/, (digits) =>
    Number(digits.replace(/^0(?=[0-7])/, "0o")),
  ),
  number("float", /^[-+]?(?:\.[0-9][0-9_]*|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?$/, Number),
  number("float", /^[-+]?\.(?:inf|Inf|INF)$/, () => Number.POSITIVE_INFINITY),
  {
    tag: "tag:yaml.org,2002:binary",
    resolve: (text, onError) => {
      const base64 = text.replace(/[\r\n]/g, "");
      if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) onError("invalid base64");
      return Buffer.from(base64, "base64").toString();
    },
  },
];

async function parseYaml(name: string, { text, from }: Part): Promise<Json> {
  const { LineCounter, parseDocument } = await import("yaml");
  const lineCounter = new LineCounter();
  const wrong = (what: string, line = 1) => new UsageError(`${name}:${from + line - 1}: ${what}`);
  try {
    const document = parseDocument(text, {
      version: "1.1",
      lineCounter,
      prettyErrors: false,
      logLevel: "silent",
      customTags: (tags) => [...tags.filter((tag) => typeof tag === "string" || !notInGo.test(tag.tag)), ...goTags],
    });
    const [error] = document.errors;
    // The message of the parser may quote the text.
    if (error !== undefined) throw wrong(`invalid YAML (${error.code})`, lineCounter.linePos(error.pos[0]).line);
    return document.toJS();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw wrong("invalid YAML: an alias is circular, undefined, or expands to too much");
  }
}

interface ManifestFile {
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
