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
