/**
 * Returns the fields of one line of comma-separated values, as pflag reads a list: a field in double quotes may contain commas, and `""` in it
 * is one quotation mark (https://pkg.go.dev/encoding/csv). An empty text has no fields. Returns undefined if quotation marks are misplaced.
 */
export function csvFields(text: string): readonly string[] | undefined {
  if (text === "") return [];
  const fields: string[] = [];
  const form = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;
  for (;;) {
    const match = form.exec(text);
    if (match === null) return undefined;
    const [, quoted, plain = "", end] = match;
    fields.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === "") return fields;
  }
}
