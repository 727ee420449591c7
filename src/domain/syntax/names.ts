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

// domain/syntax: parses and formats small texts (durations, windows, selectors, names, JSON Patch). Knows nothing of workloads or of Wave's decisions.

/** Limit of characters of a quoted text in a message. */
const maxShown = 80;

/**
 * Returns a text from a user in quotation marks, on one line, cut to 80 characters. Escapes control and direction
 * characters, because people also read Events in terminals.
 */
export function quoted(text: string): string {
  const json = JSON.stringify(text.length <= maxShown ? text : `${text.slice(0, maxShown - 1)}…`);
  return json.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (sign) => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`);
}

/** Returns a count with thousands separators: `4,998`. */
export function formatCount(count: number): string {
  return `${count}`.replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Returns a list as text: `a`, `a and b`, `a, b and c`, `a, b and 7 more`. Calls `format` for the shown items only. */
export function formatList<T>(all: readonly T[], shown: number, format: (item: T) => string): string {
  const rest = all.length - shown;
  const texts = all.slice(0, shown).map(format);
  const parts = rest > 0 ? [...texts, `${formatCount(rest)} more`] : texts;
  const last = parts.at(-1) ?? "nothing";
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(", ")} and ${last}`;
}

/** Returns the arguments of a command of Wave for an object, whatever the current namespace of its reader is: `deployment/web -n shop`. */
export function waveArguments(object: {
  readonly kind: string;
  readonly namespace: string | null;
  readonly name: string;
}): string {
  return `${object.kind.toLowerCase()}/${object.name} -n ${object.namespace}`;
}
