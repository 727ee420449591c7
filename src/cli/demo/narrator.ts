import { paintOf } from "../output/paint.ts";
import { printable } from "../output/printable.ts";

/** Writes the steps of the demo for people. */
export interface Narrator {
  readonly paragraph: (...lines: readonly string[]) => void;
  readonly step: (number: number, title: string) => void;
  /** Writes the kubectl command of a step, with a comment if the command alone is not clear. */
  readonly command: (command: string, comment?: string) => void;
  /** Writes lines that explain. */
  readonly why: (...lines: readonly string[]) => void;
  /** Writes something that was observed in the cluster. */
  readonly seen: (what: string, is: string, note?: string) => void;
}

/** Returns a narrator. Use colours for terminals only: they are ANSI escapes. */
export function createNarrator(write: (text: string) => void, color: boolean): Narrator {
  const styled = paintOf(color);
  const line = (text: string) => write(`${text}\n`);
  return {
    paragraph: (...lines) => {
      for (const each of lines) line(printable(each));
      line("");
    },
    step: (number, title) => line(styled("bold", `${number}. ${title}`)),
    command: (command, comment) =>
      line(
        `   ${styled("cyan", printable(`$ ${command}`))}${comment === undefined ? "" : styled("dim", printable(`   # ${comment}`))}`,
      ),
    why: (...lines) => {
      for (const each of lines) line(`   ${styled("dim", printable(each))}`);
    },
    seen: (what, is, note = "") =>
      line(`   ${what.padEnd(11)} ${styled("green", printable(is))}${note && printable(`   ${note}`)}`),
  };
}

/** Returns `a → b`, or `a (unchanged)`. */
export function describeChange(before: string, after: string): string {
  return before === after ? `${after} (unchanged)` : `${before} → ${after}`;
}

/** Returns a short hash for people: the tag and 8 of 64 digits. */
export function shortHash(hash: string): string {
  return hash.slice(0, hash.indexOf(":") + 9);
}
