import { readFileSync } from "node:fs";
import { join } from "node:path";
import { exchangesOf, type Fence, fencesOf, root } from "./fences.ts";

/** One step of a person: a sentence to find, a command of that place to type, a text to see after it, or an event in the cluster. */
export type Step =
  | { readonly does: "reads"; readonly place: Place; readonly text: string }
  | { readonly does: "types" | "sees" | "happens"; readonly text: string };

/** A page, or the section of a page under a heading. */
export interface Place {
  readonly page: string;
  /** The address of the heading in the page; undefined: the whole page. */
  readonly anchor: string | undefined;
}

/** The script of a person's way through the docs: test/docs/walks/*.md. */
export interface Walk {
  readonly title: string;
  /** The page whose scene (test/docs/scenes/) the person finds in the cluster. */
  readonly scene: string | undefined;
  readonly steps: readonly Step[];
}

/** Reads a script. Throws an Error for a line that begins with "- " and is no step. */
export function readWalk(file: string): Walk {
  const lines = readFileSync(join(import.meta.dirname, "walks", file), "utf8").split("\n");
  const scene = lines.find((line) => line.startsWith("- scene: "))?.slice(9);
  const steps = lines
    .filter((line) => line.startsWith("- ") && !line.startsWith("- scene: "))
    .map((line) => stepOf(file, line));
  return { title: lines[0]?.replace(/^# /, "") ?? file, scene, steps };
}

function stepOf(file: string, line: string): Step {
  const [, page, anchor, read] = /^- reads ([^\s:#]+)(?:#([\w-]+))?: (.+)$/.exec(line) ?? [];
  if (page !== undefined && read !== undefined) return { does: "reads", place: { page, anchor }, text: read };
  const [, does, text] = /^- (types|sees|happens): (.+)$/.exec(line) ?? [];
  if (text === undefined)
    throw new Error(`${file}: "${line}" is no step; use reads PAGE#HEADING, types, sees or happens`);
  return { does: does as "types" | "sees" | "happens", text };
}

/** Returns the lines of a place, from its heading to the next heading of the same or a higher level. Throws an Error if there is no such heading. */
function linesOf({ page, anchor }: Place): { readonly first: number; readonly lines: readonly string[] } {
  const lines = readFileSync(join(root, page), "utf8").split("\n");
  if (anchor === undefined) return { first: 0, lines };
  const levels = headingsOf(lines);
  const begin = levels.findIndex((heading) => heading?.anchor === anchor);
  if (begin === -1) throw new Error(`${page} has no heading #${anchor}`);
  const level = levels[begin]?.level ?? 0;
  const end = levels.findIndex((heading, at) => at > begin && heading !== undefined && heading.level <= level);
  return { first: begin, lines: lines.slice(begin, end === -1 ? undefined : end) };
}

/** Returns for each line its heading with the address on the site and on GitHub; undefined for other lines, and in blocks of code. */
function headingsOf(lines: readonly string[]) {
  let inBlock = false;
  return lines.map((line) => {
    if (/^\s*```/.test(line)) inBlock = !inBlock;
    const [, marks, title] = (!inBlock && /^(#+) (.+)$/.exec(line)) || [];
    if (marks === undefined || title === undefined) return undefined;
    const anchor = title
      .toLowerCase()
      .replace(/[^\w\s-]/g, "")
      .replace(/\s+/g, "-");
    return { level: marks.length, anchor };
  });
}

/** Returns the text of a place in one line. */
export function textOf(place: Place): string {
  return linesOf(place).lines.join("\n").replaceAll(/\s+/g, " ");
}

/** What a person types: a command with the output that the page shows, or a whole block. */
export type Typed =
  | { readonly type: "command"; readonly command: string; readonly output: readonly string[]; readonly at: string }
  | { readonly type: "block"; readonly fence: Fence };

/**
 * Returns the command of a place that begins with a text: from a block with output, from another block, or from the prose between marks of
 * code. Throws an Error if the place has no such command.
 */
export function typedIn(place: Place, text: string): Typed {
  const { first, lines } = linesOf(place);
  const isIn = ({ at }: Fence) => {
    const line = Number(at.replace(/^.*:/, "")) - 1;
    return line >= first && line < first + lines.length;
  };
  for (const fence of fencesOf(place.page).filter(isIn)) {
    if (fence.language === "console") {
      const found = exchangesOf(fence).find(({ command }) => command.startsWith(text));
      if (found !== undefined) return { type: "command", ...found, at: fence.at };
    } else if (fence.text.split("\n").some((line) => line.startsWith(text))) return { type: "block", fence };
  }
  const code = lines
    .join("\n")
    .match(/`[^`\n]+`/g)
    ?.find((each) => each === `\`${text}\``);
  if (code !== undefined) return { type: "command", command: text, output: [], at: place.page };
  throw new Error(`${place.page}#${place.anchor ?? ""} has no command "${text}"`);
}
