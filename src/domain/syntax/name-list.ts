import { isDnsLabel, isDnsSubdomain } from "./dns-name.ts";

/** Returns the entries of a comma-separated list, without surrounding spaces and without empty entries. */
export function splitList(list = ""): readonly string[] {
  return list
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

/** The objects of one kind that an annotation lists, each as `name` or `namespace/name`. */
export type Names = ReadonlySet<string>;

/** The empty list of names. */
export const noNames: Names = new Set();

/** Parses a comma-separated list of `name` or `namespace/name`. Returns undefined if an entry is not a valid name. */
export function parseNames(text: string): Names | undefined {
  const names = splitList(text);
  return names.every(isName) ? new Set(names) : undefined;
}

function isName(text: string): boolean {
  const slash = text.indexOf("/");
  if (slash === -1) return isDnsSubdomain(text);
  return isDnsLabel(text.slice(0, slash)) && isDnsSubdomain(text.slice(slash + 1));
}

/** Reports whether a list names an object. A name without namespace belongs to the namespace `own`. */
export function isListed(
  names: Names,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  own: string,
): boolean {
  return names.has(`${namespace}/${name}`) || (namespace === own && names.has(name));
}
