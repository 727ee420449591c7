// https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
// Each character can match in one way only, so that no text takes long to reject.
const subdomain = /^[a-z0-9]+(?:-+[a-z0-9]+)*(?:\.[a-z0-9]+(?:-+[a-z0-9]+)*)*$/;

/** Limit of the name of an object, in characters. */
export const maxNameLength = 253;

/** Reports whether a text is a DNS label, such as the name of a Namespace or Service. */
export function isDnsLabel(text: string): boolean {
  return label.test(text);
}

/**
 * Reports whether a text is a DNS subdomain, such as the name of a ConfigMap, Secret or workload. The API server accepts any
 * text as a name in volumes of pod templates and in owner references. An object with such a name can never exist.
 */
export function isDnsSubdomain(text: string): boolean {
  return text.length <= maxNameLength && subdomain.test(text);
}

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

/** Returns the candidate with the fewest edits to the typed word; undefined if no candidate is close enough or shares a letter. */
export function closestName(typed: string, candidates: readonly string[]): string | undefined {
  if (typed.length > 60) return undefined;
  let best: string | undefined;
  let fewest = Math.min(Math.max(2, Math.floor(typed.length / 3)) + 1, typed.length);
  for (const candidate of candidates) {
    const edits = editDistance(typed, candidate);
    if (edits < Math.min(fewest, candidate.length)) [best, fewest] = [candidate, edits];
  }
  return best;
}

/**
 * Returns the Levenshtein distance of two texts: how many letters must be added, removed or replaced. Takes time in
 * proportion to the product of their lengths.
 */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
