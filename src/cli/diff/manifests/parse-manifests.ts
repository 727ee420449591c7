import { UsageError } from "../../flags/usage-error.ts";
import type { Json } from "./json.ts";
import { type Manifest, manifestsOf } from "./manifest.ts";
import type { ManifestFile } from "./manifest-files.ts";

/** A pull request of more is no pull request. */
const mostObjects = 20_000;

/**
 * The objects of some files: documents of YAML or JSON, as kubectl reads them. Throws a UsageError with file and line of what is
 * wrong, and never with what stands there, which may be a value.
 */
export async function parseManifests(files: readonly ManifestFile[]): Promise<readonly Manifest[]> {
  const manifests: Manifest[] = [];
  for (const { name, text } of files) {
    for (const { document, line } of await documentsOf(name, text)) {
      manifests.push(...manifestsOf(document, `${name}:${line}`));
      if (manifests.length > mostObjects)
        throw new UsageError(`${name}: more than ${mostObjects} objects are too many`);
    }
  }
  return manifests;
}

interface Parsed {
  readonly document: Json;
  /** Where it begins. */
  readonly line: number;
}

/** JSON is YAML, and much quicker to read. */
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
  /** The first line of it that says something. */
  readonly line: number;
  /** The line of the file at which the text begins. */
  readonly from: number;
}

/** As kubectl splits them: at lines that begin with `---`. One by one they need a small part of the memory. */
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

/** What of YAML 1.1 kubectl does not know, and takes for texts: times, and numbers of base 60 such as 1:30. */
const notInGo = /:(timestamp|binary|omap|pairs|set)$/;

async function parseYaml(name: string, { text, from }: Part): Promise<Json> {
  const { LineCounter, parseDocument } = await import("yaml");
  const lineCounter = new LineCounter();
  const wrong = (what: string, line = 1) => new UsageError(`${name}:${from + line - 1}: ${what}`);
  try {
    // Numbers such as 0644 are octal to kubectl, as in YAML 1.1.
    const document = parseDocument(text, {
      version: "1.1",
      lineCounter,
      prettyErrors: false,
      logLevel: "silent",
      customTags: (tags) =>
        tags.filter((tag) => typeof tag === "string" || !(notInGo.test(tag.tag) || tag.format === "TIME")),
    });
    const [error] = document.errors;
    // The parser's own message may quote what stands there.
    if (error !== undefined)
      throw wrong(`it is not valid YAML (${error.code})`, lineCounter.linePos(error.pos[0]).line);
    return document.toJS();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw wrong("it is not valid YAML: its aliases go in circles, to nowhere, or to too much");
  }
}
