import { printable } from "./printable.ts";

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

/** Returns the width of each column in characters, at least as in `least`. */
export function columnWidths(rows: readonly (readonly string[])[], least: readonly number[] = []): readonly number[] {
  const widths = [...least];
  for (const row of rows)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, printable(cell).length);
  return widths;
}
