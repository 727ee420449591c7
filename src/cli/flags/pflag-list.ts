import type { Flag } from "./flag-types.ts";

/**
 * Returns a flag of Reloader with the list syntax of pflag: quoted fields, an empty value, and several flags that add up. Existing arguments
 * of Reloader then keep their meaning. `none` is the value of an empty list.
 */
export function pflagList<V>(flag: Flag<V>, none: NonNullable<V>): Flag<V> {
  return {
    ...flag,
    repeats: ",",
    parse: (text) => {
      const fields = csvFields(text)?.filter((field) => field.trim() !== "");
      if (fields === undefined) return undefined;
      return fields.length === 0 ? none : flag.parse(fields.join(","));
    },
  };
}

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
