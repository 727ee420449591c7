import { styleText } from "node:util";

/** The styles of texts in a terminal. */
export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** Returns a printable text in a style; the same text if there are no colors. */
export type Paint = (style: Style | undefined, text: string) => string;

/** Reports whether to use colors: on a terminal that has them, unless NO_COLOR has any value (https://no-color.org). */
export function hasColors(
  { NO_COLOR, TERM }: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): boolean {
  return isTerminal && !NO_COLOR && TERM !== "dumb";
}

/** Reports whether lines that were written can be replaced: on a terminal with a cursor, but not in CI, which stores what it shows. */
export function canRewrite({ CI, TERM }: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  return isTerminal && !CI && TERM !== "dumb";
}

/** Returns a function that paints texts, or one that returns them unchanged. */
export function paintOf(colors: boolean): Paint {
  return (style, text) =>
    // The caller knows the stream and the environment.
    colors && style !== undefined && text !== "" ? styleText(style, text, { validateStream: false }) : text;
}
