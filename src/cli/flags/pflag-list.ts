import { csvFields } from "./csv-fields.ts";
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
