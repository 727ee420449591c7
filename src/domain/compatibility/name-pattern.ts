import { isDnsSubdomain } from "../syntax/names.ts";
import { boundedMemo } from "../syntax/shared-values.ts";
import type { CompatibilitySettings } from "./directive.ts";

/** A regular expression that must match a whole name, or the reason why it is not supported. */
type NamePattern =
  | {
      readonly state: "read";
      readonly matches: (name: string) => boolean;
      /** The number of steps of the compiled expression. */
      readonly size: number;
    }
  | { readonly state: "invalid"; readonly reason: string };

/** Limit of the steps of one expression. The worst expression takes time in proportion to steps times characters of the name. */
const maxSteps = 256;

/** Limit of the characters of an expression with its counted repetitions written out, so that compiling takes about a millisecond. */
const maxExpanded = 1_000;

/** What the engine may store to match names faster, for each expression. An ordinary expression needs a tenth. */
const maxStoredBytes = 32_768;

let engine: typeof import("re2js") | undefined;

/** Loads the engine of expressions if Wave understands the annotations of Reloader. Await this before you read annotations. */
export async function loadNamePatterns(settings: Pick<CompatibilitySettings, "understood"> | undefined): Promise<void> {
  if (settings?.understood.includes("stakater")) engine ??= await import("re2js");
}

/**
 * Parses a regular expression over names of objects, in the syntax of RE2 (https://github.com/google/re2/wiki/Syntax). Matching never
 * backtracks, and neither compiling nor matching can take much time or memory, whatever a tenant writes.
 */
export const readNamePattern = boundedMemo(256, (source: string): NamePattern => {
  if (engine === undefined) throw new Error("loadNamePatterns() was not awaited");
  const { RE2JS, RE2JSSyntaxException, RE2Set } = engine;
  const invalid = (reason: string): NamePattern => ({ state: "invalid", reason });
  // A class such as (?i)[a-\x{10FFFF}] takes 40 ms to compile.
  if (/[^\0-\x7F]|\\x\{/.test(source)) return invalid("only ASCII characters are supported");
  if (isText(source) && !isDnsSubdomain(source.replaceAll(".", "a"))) return invalid("no object can have such a name");
  if (expandedLength(source) > maxExpanded) return invalid("too large");
  try {
    const size = RE2JS.compile(source, RE2JS.DISABLE_UNICODE_GROUPS).programSize();
    if (size > maxSteps) return invalid("too large");
    // A set of one expression: only the memory of a set has a limit.
    const set = new RE2Set(RE2Set.ANCHOR_BOTH, RE2JS.DISABLE_UNICODE_GROUPS, maxStoredBytes);
    set.add(source);
    return { state: "read", size, matches: (name) => set.match(name).length > 0 };
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    return invalid(error.error);
  }
});

/** Reports whether an expression is plain text, except for dots. */
function isText(source: string): boolean {
  return !/[\\^$*+?()[\]{}|]/.test(source);
}

/** Returns the characters of an expression with its counted repetitions written out. Repeats the whole expression instead of a group. */
function expandedLength(source: string): number {
  let [length, times] = [source.length, 1];
  for (const [, before, least, most] of source.matchAll(/(^|.)\{(\d+),?(\d*)\}/gs)) {
    const count = Math.max(Number(least), Number(most), 1);
    if (before === ")") times *= count;
    else length += count;
  }
  return length * times;
}
