import { isDnsLabel, isDnsSubdomain } from "./dns-name.ts";

/** Objects of one kind, as an annotation lists them: `name`, or `namespace/name`. */
export type Names = ReadonlySet<string>;

/** None. */
export const noNames: Names = new Set();

/** Reads `name` or `namespace/name`, separated by commas; undefined where one of them is no such name. */
export function parseNames(text: string): Names | undefined {
  const names = text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  return names.every(isName) ? new Set(names) : undefined;
}

function isName(text: string): boolean {
  const slash = text.indexOf("/");
  if (slash === -1) return isDnsSubdomain(text);
  return isDnsLabel(text.slice(0, slash)) && isDnsSubdomain(text.slice(slash + 1));
}

/** Whether an object is listed; a name without namespace is one of the namespace `own`. */
export function isListed(
  names: Names,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  own: string,
): boolean {
  return names.has(`${namespace}/${name}`) || (namespace === own && names.has(name));
}
