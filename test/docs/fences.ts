import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The root of the repository. */
export const root = join(import.meta.dirname, "../..");

/** A block of code in a page. */
export interface Fence {
  /** What its first line says: `sh`, `console`, `yaml`, … */
  readonly language: string;
  /** What follows the language: nothing, a word, or why the block is not run. */
  readonly info: string;
  readonly text: string;
  /** Where it begins, for messages: `docs/install.md:12`. */
  readonly at: string;
}

/** The blocks of code of a page, in order. `page` is a path from the root of the repository. */
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

/** Lines of a page that are a block of code by their indent alone, after an empty line. */
export function indentedCommands(page: string): readonly string[] {
  const text = readFileSync(join(root, page), "utf8").replace(/^(\s*)```[\s\S]*?^\1```$/gm, "");
  return [...text.matchAll(/\n\n( {4}\S.*)/g)].map(([, line]) => line ?? "");
}

/**
 * Pages whose blocks another test runs, which must name the page: it has the configuration, the endpoints or the
 * misfortune that they need.
 */
const elsewhere: Readonly<Record<string, string>> = {
  "docs/notifications.md": "src/notify/notifications-docs.test.ts",
  "docs/on-call.md": "test/on-call/walks.test.ts",
};

/** The test that runs the blocks of a page instead; undefined where they are followed on a control plane. */
export function otherTestOf(page: string): string | undefined {
  const test = elsewhere[page];
  if (test !== undefined && !readFileSync(join(root, test), "utf8").includes(page.replace(/^.*\//, "")))
    throw new Error(`${test} does not speak of ${page}`);
  return test;
}

/** Why a block is not run, where it says so: the text after `no-run:`. */
export function reasonNotToRun({ info }: Fence): string | undefined {
  return info.match(/^no-run: (.{8,})$/)?.[1];
}

/**
 * The test that follows a block instead, where its first line says so: the text after `elsewhere:`.
 * @throws Error where that test is not there or does not speak of the page.
 */
export function otherTestOfBlock({ info, at }: Fence): string | undefined {
  const test = info.match(/^elsewhere: (\S+)$/)?.[1];
  if (test === undefined) return undefined;
  const path = join(root, test);
  if (!existsSync(path) || !readFileSync(path, "utf8").includes(at.replace(/:\d+$/, "")))
    throw new Error(`${at}: ${test} does not speak of this page`);
  return test;
}

/** The blocks of a page that a test follows, by its own path. */
export function blocksFollowedBy(test: string, page: string): readonly Fence[] {
  return fencesOf(page).filter((fence) => otherTestOfBlock(fence) === test);
}

/** A command of a `console` block, and what it prints there. */
export interface Exchange {
  readonly command: string;
  readonly output: readonly string[];
}

/** The commands of a `console` block: lines that begin with `$ `, and, after a backslash, the next. */
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
 * Whether a command printed what a page says: each line of the page, in this order, other lines between them. What differs
 * from one day to the next counts as the same: how much space is between words, times, ages, digests, ports; `…` is
 * anything.
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
