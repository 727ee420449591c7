// How commands write: tables, colors, wrapping, ages, JSON and YAML. This folder knows no command and no cluster.
import { styleText } from "node:util";
import type { Scalar } from "yaml";
import { jsonEscape, printable } from "../../lib/printable.ts";
import type { Style } from "./sentences.ts";

/** Returns a cell in its style. The style must not change the width. */
export type PaintCell = (text: string, row: number, column: number) => string;

/** Returns rows as lines, each column as wide as its widest cell, as in `kubectl get`. Lines have no trailing blanks. */
export function tableLines(
  rows: readonly (readonly string[])[],
  gap: number,
  paint: PaintCell = (text) => text,
  widths: readonly number[] = columnWidths(rows),
): readonly string[] {
  const between = " ".repeat(gap);
  return rows.map((row, index) => {
    return row
      .map(printable)
      .map((cell, column) => paint(cell, index, column) + " ".repeat(Math.max(0, (widths[column] ?? 0) - cell.length)))
      .join(between)
      .trimEnd();
  });
}

/** Returns a table with a bold heading, and with cells in the style that `styleOf` returns for a row, from 0, and a heading. */
export function headedTable(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  paint: Paint,
  styleOf: (row: number, heading: string | undefined) => Style | undefined = () => undefined,
  gap = 3,
): readonly string[] {
  return tableLines([heading, ...rows], gap, (text, row, column) =>
    paint(row === 0 ? "bold" : styleOf(row - 1, heading[column]), text),
  );
}

/** Returns lines as one text, each with a line feed. */
export function joined(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

/** Returns the width of each column in characters, at least as in `least`. */
export function columnWidths(rows: readonly (readonly string[])[], least: readonly number[] = []): readonly number[] {
  const widths = [...least];
  for (const row of rows)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, printable(cell).length);
  return widths;
}

/** A blank at which lines do not break. */
export const unbreakable = "\u00a0";

/** Breaks a text at blanks into lines of at most `width` columns; a longer word has its own. Undefined: one line, for pipes. */
export function wrapped(text: string, width: number | undefined): readonly string[] {
  const lines: string[] = [];
  let line: string | undefined;
  for (const word of width === undefined ? [text] : text.split(" ")) {
    if (line !== undefined && line.length + 1 + word.length > (width ?? 0)) {
      lines.push(line);
      line = word;
    } else line = line === undefined ? word : `${line} ${word}`;
  }
  return [...lines, line ?? ""].map((each) => each.replaceAll(unbreakable, " "));
}

/** Returns a text wrapped behind a head. The lines after the first one begin at column `indent`. */
export function wrappedBehind(
  head: string,
  text: string,
  width: number | undefined,
  indent = head.length,
): readonly string[] {
  const [first = "", ...rest] = wrapped(
    text,
    width === undefined ? undefined : Math.max(minWidth, width - Math.max(head.length, indent)),
  );
  return [head + first, ...rest.map((line) => " ".repeat(indent) + line)];
}

/** Minimum columns of a text. In a narrower terminal the lines are too long, because one word per line is not readable. */
const minWidth = 24;

/** Returns a printable text in a style; the same text if there are no colors. */
export type Paint = (style: Style | undefined, text: string) => string;

/** Reports whether to use colors: on a terminal that has them, unless NO_COLOR has any value (https://no-color.org). */
export function hasColors(
  { NO_COLOR, TERM }: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): boolean {
  return isTerminal && !NO_COLOR && TERM !== "dumb";
}

/** Returns the colors for standard output: only on a terminal. */
export function paintFor(terminal: {
  readonly env: Parameters<typeof hasColors>[0];
  readonly outputToTerminal: boolean;
}): Paint {
  return paintOf(hasColors(terminal.env, terminal.outputToTerminal));
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

/** The output formats for programs, as `--output` names them. */
export const programForms = ["json", "yaml"] as const;

/** An output format for programs. */
export type ProgramForm = (typeof programForms)[number];

/** Reports whether a value of `--output` is a format for programs; false for undefined. */
export function isForProgram(output: string | undefined): output is ProgramForm {
  return programForms.some((form) => form === output);
}

/** Returns a value in the format of `--output`: for a program, or as `forPeople` writes it. */
export async function answerText(output: string, value: unknown, forPeople: () => string): Promise<string> {
  return isForProgram(output) ? programText(value, output) : forPeople();
}

/** Returns a value as JSON or YAML with a final line feed. Fields with the value `undefined` are left out. */
export async function programText(value: unknown, form: ProgramForm): Promise<string> {
  return form === "json" ? `${printableJson(value)}\n` : printableYaml(value);
}

/** Characters that control a terminal or hide text, and that JSON and YAML allow without escapes. */
const unprintable = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Returns YAML with the same escapes as JSON. Escapes need double quotes, which the library uses only for some characters. */
async function printableYaml(value: unknown): Promise<string> {
  const { Document, visit } = await import("yaml");
  const document = new Document(JSON.parse(JSON.stringify(value)));
  visit(document, {
    Scalar: (_, scalar: Scalar) => {
      if (typeof scalar.value === "string" && scalar.value.search(unprintable) !== -1) scalar.type = "QUOTE_DOUBLE";
    },
  });
  return (
    document
      // Each string stays on its line: a text of others could otherwise look like a field.
      .toString({ lineWidth: 0, blockQuote: false, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER })
      .replace(unprintable, (character) => {
        const digits = (character.codePointAt(0) ?? 0).toString(16);
        return `\\U${digits.padStart(8, "0")}`;
      })
  );
}

/** Returns JSON for a program. People also read JSON in terminals, so control and format characters are escaped. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(unprintable, jsonEscape);
}
