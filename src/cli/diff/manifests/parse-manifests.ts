import { UsageError } from "../../flags/usage-error.ts";
import type { Json } from "./json.ts";
import { type Manifest, manifestsOf } from "./manifest.ts";
import { manifestErrorTexts } from "./manifest-error-texts.ts";
import type { ManifestFile } from "./manifest-files.ts";

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

/** Tags of YAML 1.1 that kubectl reads as texts: times, and numbers in base 60 such as 1:30. */
const notInGo = /:(timestamp|binary|omap|pairs|set)$/;

async function parseYaml(name: string, { text, from }: Part): Promise<Json> {
  const { LineCounter, parseDocument } = await import("yaml");
  const lineCounter = new LineCounter();
  const wrong = (what: string, line = 1) => new UsageError(`${name}:${from + line - 1}: ${what}`);
  try {
    // kubectl reads numbers such as 0644 as octal, as in YAML 1.1.
    const document = parseDocument(text, {
      version: "1.1",
      lineCounter,
      prettyErrors: false,
      logLevel: "silent",
      customTags: (tags) =>
        tags.filter((tag) => typeof tag === "string" || !(notInGo.test(tag.tag) || tag.format === "TIME")),
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
