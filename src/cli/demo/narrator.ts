import { paintOf } from "../output/paint.ts";

/** Writes the story for a person to read. */
export interface Narrator {
  /** A paragraph of its own. */
  readonly paragraph: (...lines: readonly string[]) => void;
  /** The heading of a step. */
  readonly step: (number: number, title: string) => void;
  /** A command as a person would type it, and what it does where the command alone does not say. */
  readonly command: (command: string, comment?: string) => void;
  /** Lines that explain. */
  readonly why: (...lines: readonly string[]) => void;
  /** Something that was seen in the cluster. */
  readonly seen: (what: string, is: string, note?: string) => void;
}

/** A narrator; colours are ANSI escapes, for a terminal only. */
export function createNarrator(write: (text: string) => void, color: boolean): Narrator {
  const styled = paintOf(color);
  const line = (text: string) => write(`${text}\n`);
  return {
    paragraph: (...lines) => {
      for (const each of lines) line(each);
      line("");
    },
    step: (number, title) => line(styled("bold", `${number}. ${title}`)),
    command: (command, comment) =>
      line(`   ${styled("cyan", `$ ${command}`)}${comment === undefined ? "" : styled("dim", `   # ${comment}`)}`),
    why: (...lines) => {
      for (const each of lines) line(`   ${styled("dim", each)}`);
    },
    seen: (what, is, note = "") => line(`   ${what.padEnd(11)} ${styled("green", is)}${note && `   ${note}`}`),
  };
}

/** `a → b`, or `a, as before`. */
export function describeChange(before: string, after: string): string {
  return before === after ? `${after}, as before` : `${before} → ${after}`;
}

/** A hash as short as a person compares it: the tag and 8 of 64 digits. */
export function shortHash(hash: string): string {
  return hash.slice(0, hash.indexOf(":") + 9);
}
