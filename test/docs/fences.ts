import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The root of the repository. */
export const root = join(import.meta.dirname, "../..");

/** A block of code in a page. */
export interface Fence {
  /** The language in its first line: `sh`, `console`, `yaml`, … */
  readonly language: string;
  /** The text after the language: empty, a word, or the reason why the block is not run. */
  readonly info: string;
  readonly text: string;
  /** The position of its first line, for messages: `docs/install.md:12`. */
  readonly at: string;
}

/** Returns the blocks of code of a page, in order. `page` is a path from the root of the repository. */
export function fencesOf(page: string): readonly Fence[] {
  const fences: Fence[] = [];
  let open: { language: string; info: string; at: string; indent: string; lines: string[] } | undefined;
  for (const [index, line] of readFileSync(join(root, page), "utf8").split("\n").entries()) {
    const [, indent = "", language = "", info = ""] = line.match(/^(\s*)```(\S*)\s*(.*)$/) ?? [];
    if (open === undefined) {
      if (/^\s*```/.test(line)) open = { language, info, at: `${page}:${index + 1}`, indent, lines: [] };
    } else if (/^\s*```\s*$/.test(line)) {
      fences.push({ ...open, text: open.lines.map((each) => `${each.slice(indent.length)}\n`).join("") });
      open = undefined;
    } else open.lines.push(line);
  }
  if (open !== undefined) throw new Error(`${open.at}: the block does not end`);
  return fences;
}

/** Returns the lines of a page that are a block of code only because of their indent, after an empty line. */
export function indentedCommands(page: string): readonly string[] {
  const text = readFileSync(join(root, page), "utf8").replace(/^(\s*)```[\s\S]*?^\1```$/gm, "");
  return [...text.matchAll(/\n\n( {4}\S.*)/g)].map(([, line]) => line ?? "");
}

/**
 * Pages whose blocks another test runs. That test must name the page, and provides the configuration, the endpoints or the
 * faults that the blocks need.
 */
const elsewhere: Readonly<Record<string, string>> = {
  "docs/notifications.md": "src/notify/notifications-docs.test.ts",
  "docs/on-call.md": "test/on-call/walks.test.ts",
};

/** Returns the test that runs the blocks of a page instead; undefined if they run on a control plane. */
export function otherTestOf(page: string): string | undefined {
  const test = elsewhere[page];
  if (test !== undefined && !readFileSync(join(root, test), "utf8").includes(page.replace(/^.*\//, "")))
    throw new Error(`${test} does not speak of ${page}`);
  return test;
}

/** Returns the reason why a block is not run, if it has one: the text after `no-run:`. */
export function reasonNotToRun({ info }: Fence): string | undefined {
  return info.match(/^no-run: (.{8,})$/)?.[1];
}

/**
 * Returns the test that runs a block instead, if the first line of the block names one: the text after `elsewhere:`.
 * @throws Error if that test does not exist or does not name the page.
 */
export function otherTestOfBlock({ info, at }: Fence): string | undefined {
  const test = info.match(/^elsewhere: (\S+)$/)?.[1];
  if (test === undefined) return undefined;
  const path = join(root, test);
  if (!existsSync(path) || !readFileSync(path, "utf8").includes(at.replace(/:\d+$/, "")))
    throw new Error(`${at}: ${test} does not speak of this page`);
  return test;
}

/** Returns the blocks of a page that a test runs. The test is given by its path. */
export function blocksFollowedBy(test: string, page: string): readonly Fence[] {
  return fencesOf(page).filter((fence) => otherTestOfBlock(fence) === test);
}

/** A command of a `console` block, with its output there. */
export interface Exchange {
  readonly command: string;
  readonly output: readonly string[];
}

/** Returns the commands of a `console` block: lines that begin with `$ `, and, after a backslash, the next line. */
export function exchangesOf({ text, at }: Fence): readonly Exchange[] {
  const exchanges: { command: string; output: string[] }[] = [];
  for (const line of text.trimEnd().split("\n")) {
    const last = exchanges.at(-1);
    if (line.startsWith("$ ")) exchanges.push({ command: line.slice(2), output: [] });
    else if (last === undefined) throw new Error(`${at}: a console block begins with "$ "`);
    else if (last.command.endsWith("\\") && last.output.length === 0) last.command += `\n${line}`;
    else last.output.push(line);
  }
  return exchanges;
}

/**
 * Reports whether the output of a command matches a page: it has each line of the page, in this order, with other lines allowed
 * between them. Parts that differ between runs are ignored: the space between words, times, ages, digests and ports. `…` matches
 * any text.
 */
export function printsAsIn(page: readonly string[], printed: string): boolean {
  const lines = printed.split("\n").map(plain);
  let from = 0;
  for (const wanted of page.map(plain).filter((line) => line !== "")) {
    const pattern = new RegExp(`^${wanted.split("…").map(RegExp.escape).join(".*")}$`);
    const found = lines.findIndex((line, index) => index >= from && pattern.test(line));
    if (found === -1) return false;
    from = found + 1;
  }
  return true;
}

function plain(line: string): string {
  return line
    .replace(/\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?Z?)?/g, "TIME")
    .replace(/\b(\d+(d|h|m|s|ms))+\b/g, "AGE")
    .replace(/\b[0-9a-f]{64}\b/g, "DIGEST")
    .replace(/\b[0-9a-f]{8,10}-[a-z0-9]{5}\b/g, "POD")
    .replace(/\s+/g, " ")
    .trim();
}
