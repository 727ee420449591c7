/** Returns the entries of a comma-separated list, without surrounding spaces and without empty entries. */
export function splitList(list = ""): readonly string[] {
  return list
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}
