/** A table of texts in the sources: constant texts, and functions of the parts that vary. */
export type TextTable = Readonly<Record<string, string | ((...parts: string[]) => string)>>;

/** The other cells of a row for each text of a table, so that the types require a row for every text. */
export type CellsOf<T extends TextTable> = { readonly [K in keyof T]: readonly string[] };

/** Returns a text with `…` for each part that varies. */
export function shownText(text: string | ((...parts: string[]) => string)): string {
  return typeof text === "string" ? text : text(...Array<string>(text.length).fill("…"));
}

/** Returns a row for each text of a table: the text as code, and the other cells. */
export function textRows<T extends TextTable>(texts: T, cells: CellsOf<T>): readonly (readonly string[])[] {
  return Object.entries(texts).map(([key, text]) => [`\`${shownText(text)}\``, ...(cells[key] ?? [])]);
}

/** Returns a page with another table under each of the headings. The other text of the page stays. */
export function withTables(page: string, tables: Readonly<Record<string, readonly (readonly string[])[]>>): string {
  return Object.entries(tables).reduce(withTable, page);
}

function withTable(page: string, [heading, rows]: readonly [string, readonly (readonly string[])[]]): string {
  const section = page.indexOf(`\n${heading}\n`);
  const start = page.indexOf("\n|", section) + 1;
  if (section < 0 || start < 1) throw new Error(`the page has no table under "${heading}"`);
  const end = /\n(?!\|)|$/.exec(page.slice(start))?.index ?? 0;
  const head = page.slice(start).split("\n", 2);
  const lines = rows.map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`);
  return `${page.slice(0, start)}${[...head, ...lines].join("\n")}${page.slice(start + end)}`;
}
