import { maxNameLength } from "../syntax/dns-name.ts";

/** The copies that Pods read, by the name of the ConfigMap that the pod spec references. */
export type Pins = ReadonlyMap<string, string>;

/** Limit of the annotation, in characters. A longer one is not read. */
export const maxPinnedLength = 16_384;

const labels = "[a-z0-9]+(?:-+[a-z0-9]+)*";
const subdomain = `${labels}(?:[.]${labels})*`;

/** The form of one pin, `source=copy`: a regular expression that is the same in JavaScript and in the policy of the chart. */
export const pinPattern = `${subdomain}=${subdomain}-(?:[0-9a-f]{10}|[0-9a-f]{20})`;

const pinForm = new RegExp(`^${pinPattern}$`);

/**
 * Parses the annotation of the pins; undefined if any part is malformed, so that Pods are never pinned in part. Each copy has the name
 * of its source and digits, and is not itself a source, so that a Pod that is pointed twice is the same as one that is pointed once.
 */
export function parsePins(text: string): Pins | undefined {
  if (text.length > maxPinnedLength) return undefined;
  const pins = new Map<string, string>();
  for (const pin of text.split(",")) {
    const [source = "", copy = ""] = pin.split("=", 2);
    if (pins.has(source) || !isPin(pin, source, copy)) return undefined;
    pins.set(source, copy);
  }
  return pins.values().some((copy) => pins.has(copy)) ? undefined : pins;
}

/** Returns the pins of an annotation; none if it is absent or malformed. */
export function pinsIn(text: string | undefined): Pins {
  return (text !== undefined && parsePins(text)) || new Map();
}

/** Returns the text of the annotation, sorted; "" if nothing is pinned. */
export function formatPins(pins: Pins): string {
  return Array.from(pins, ([source, copy]) => `${source}=${copy}`)
    .sort()
    .join(",");
}

function isPin(pin: string, source: string, copy: string): boolean {
  if (source.length > maxNameLength || copy.length > maxNameLength) return false;
  // The name of a long source is cut to make room for the digits.
  return source.startsWith(copy.slice(0, copy.lastIndexOf("-"))) && pinForm.test(pin);
}
