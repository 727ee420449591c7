import { printable } from "./printable.ts";

/** Rows in columns as wide as their widest cell, as `kubectl get` prints them; each line ends without blanks. */
export function tableLines(rows: readonly (readonly string[])[], gap: number): readonly string[] {
  const cells = rows.map((row) => row.map(printable));
  const widths: number[] = [];
  for (const row of cells)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  const between = " ".repeat(gap);
  return cells.map((row) => {
    return row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(between)
      .trimEnd();
  });
}
