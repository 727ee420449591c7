import { printable } from "./printable.ts";

/** A cell as it is shown, with its text and place: what paints it may add nothing that has a width. */
export type PaintCell = (text: string, row: number, column: number) => string;

/** Rows in columns as wide as their widest cell, as `kubectl get` prints them; each line ends without blanks. */
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
