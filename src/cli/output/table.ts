import { printable } from "./printable.ts";

/** Returns a cell in its style. The style must not change the width. */
export type PaintCell = (text: string, row: number, column: number) => string;

/** Returns rows as lines, each column as wide as its widest cell, as in `kubectl get`. Lines have no trailing blanks. */
export function tableLines(
  rows: readonly (readonly string[])[],
  gap: number,
  paint: PaintCell = (text) => text,
): readonly string[] {
  const cells = rows.map((row) => row.map(printable));
  const widths: number[] = [];
  for (const row of cells)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  const between = " ".repeat(gap);
  return cells.map((row, index) => {
    return row
      .map((cell, column) => paint(cell, index, column) + " ".repeat((widths[column] ?? 0) - cell.length))
      .join(between)
      .trimEnd();
  });
}
