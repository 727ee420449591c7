import { hash } from "node:crypto";
import { endOfString, objectBounds, quote, withoutBulkyFields } from "./json-bytes.ts";

/** The kinds whose values may be digested. */
export type DigestedKind = "ConfigMap" | "Secret";

/**
 * Returns parsed JSON without bulky fields, and with {@link digestValues} if `digestsOf` is a kind. Returns undefined for bytes that are not
 * JSON: the message of the parser would contain them, and they may be a Secret. Modifies the bytes.
 */
export function parseJson(json: Buffer, digestsOf: DigestedKind | undefined) {
  try {
    const slim = withoutBulkyFields(json);
    return JSON.parse(digestsOf === undefined ? slim.toString() : digestValues(slim, digestsOf));
  } catch {
    return undefined;
  }
}

const backslash = 0x5c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** The encoding of the values of each field that is a map. */
const encodings: Readonly<Record<DigestedKind, Readonly<Record<string, "utf8" | "base64" | undefined>>>> = {
  ConfigMap: { data: "utf8", binaryData: "base64" },
  Secret: { data: "base64", stringData: "utf8" },
};

/** This annotation repeats all values of an object. */
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/**
 * Returns the JSON of an object, an event or a list of a kind with `{"sha256":…,"bytes":…}` in place of each value: the digest, one byte
 * per character, of the value (without its base64), and the length of its text. Empties the annotation with the last applied
 * configuration. No value becomes a string, because V8 does not overwrite strings that it no longer needs. Modifies the given bytes. The
 * result ends where the JSON is broken.
 */
export function digestValues(json: Buffer, kind: DigestedKind): string {
  let text = "";
  /** The first byte that is not in `text` yet. */
  let from = 0;
  const replace = (begin: number, end: number, by: string) => {
    text += json.toString("utf8", from, begin) + by;
    from = end;
  };

  /** Replaces the values of the map that begins at `begin`, and returns the position after the map, or -1. */
  const replaceMap = (begin: number, encoding: "utf8" | "base64"): number => {
    for (let at = begin + 1; ; ) {
      at = afterSpace(json, at);
      if (json[at] === closeBrace) return at + 1;
      if (json[at] !== quote) {
        if (at >= json.length) return -1;
        at++; // a comma
        continue;
      }
      const key = endOfString(json, at + 1);
      if (key === -1) return -1;
      at = afterSpace(json, afterSpace(json, key + 1) + 1);
      if (json[at] === quote) {
        const end = endOfString(json, at + 1);
        if (end === -1) return -1;
        replace(at, end + 1, digestText(json.subarray(at + 1, end), encoding));
        at = end + 1;
      } else if (json[at] === openBrace || json[at] === 0x5b) {
        // Malformed: the API server has only strings here. Nothing of it is kept.
        const end = objectBounds(json, at, 0)?.end;
        if (end === undefined) return -1;
        replace(at, end + 1, "0");
        at = end + 1;
      }
    }
  };

  // Without an escaped letter, the keys are found directly. Otherwise each string may be a key.
  const nextKey = json.includes("\\u00")
    ? (at: number) => json.indexOf(quote, at)
    : (at: number) => firstOf(json, kind, at);
  for (let at = nextKey(0); at !== -1; at = nextKey(at)) {
    if (json[at - 1] === backslash) {
      at++; // the quotation mark is in a string
      continue;
    }
    const end = endOfString(json, at + 1);
    if (end === -1) return text;
    const value = afterSpace(json, afterSpace(json, end + 1) + 1);
    const isKey = json[afterSpace(json, end + 1)] === colon;
    const next = json[value];
    if (!isKey || (next !== openBrace && next !== quote)) {
      at = end + 1;
      continue;
    }
    if (next === openBrace) {
      const encoding = encodings[kind][keyText(json, at, end)];
      at = encoding === undefined ? value : replaceMap(value, encoding);
    } else {
      const last = endOfString(json, value + 1);
      const isLong = end - at > lastApplied.length;
      if (last !== -1 && isLong && keyText(json, at, end) === lastApplied) replace(value, last + 1, '""');
      at = last === -1 ? -1 : last + 1;
    }
    if (at === -1) return text;
  }
  return text + json.toString("utf8", from);
}

const keyMarkers = {
  ConfigMap: [...Object.keys(encodings.ConfigMap), lastApplied].map((key) => Buffer.from(`"${key}"`)),
  Secret: [...Object.keys(encodings.Secret), lastApplied].map((key) => Buffer.from(`"${key}"`)),
};

/** Returns the first position from `at` of a key whose value is replaced; -1 if there is none. */
function firstOf(json: Buffer, kind: DigestedKind, at: number): number {
  const found = keyMarkers[kind].map((marker) => json.indexOf(marker, at)).filter((position) => position !== -1);
  return found.length === 0 ? -1 : Math.min(...found);
}

/** Maximum length of a compared key, in bytes, if each character is escaped. */
const maxKeyBytes = 6 * lastApplied.length;

/** Returns the text of a key; "" if it is longer than any compared key. */
function keyText(json: Buffer, begin: number, end: number): string {
  if (end - begin > maxKeyBytes + 1) return "";
  const text = json.toString("utf8", begin, end + 1);
  if (!text.includes("\\")) return text.slice(1, -1);
  try {
    return String(JSON.parse(text));
  } catch {
    return "";
  }
}

function digestText(escaped: Buffer, encoding: "utf8" | "base64"): string {
  const value = unescapeJson(escaped);
  const { length } = value;
  const digest = hash("sha256", encoding === "utf8" ? value : decodeBase64(value), "binary");
  escaped.fill(0);
  return `{"sha256":${JSON.stringify(digest)},"bytes":${length}}`;
}

/** Returns the position of the first byte from `at` that is not white space. */
function afterSpace(json: Buffer, at: number): number {
  let next = at;
  for (let byte = json[next]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; byte = json[next])
    next++;
  return next;
}

/** What follows a backslash, and what both together mean. */
const escapes = new Uint8Array(128);
for (const [at, byte] of [..."nrtbf"].entries()) escapes[byte.charCodeAt(0)] = "\n\r\t\b\f".charCodeAt(at);

/** Replaces the escape sequences of a JSON string in place and returns the text in UTF-8. */
function unescapeJson(text: Buffer): Buffer {
  let at = text.indexOf(backslash);
  if (at === -1) return text;
  let to = at;
  for (const { length } = text; at < length; ) {
    const byte = text[at++] ?? 0;
    if (byte !== backslash) {
      text[to++] = byte;
      continue;
    }
    const kind = text[at++] ?? 0;
    if (kind !== 0x75) {
      text[to++] = escapes[kind] || kind;
      continue;
    }
    let code = hexAt(text, at);
    at += 4;
    if (code >= 0xd800 && code < 0xe000) {
      const low = code < 0xdc00 && text[at] === backslash && text[at + 1] === 0x75 ? hexAt(text, at + 2) : 0;
      if (low >= 0xdc00 && low < 0xe000) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        at += 6;
      } else code = 0xfffd; // half of a pair, which UTF-8 cannot express
    }
    // No sequence is longer in UTF-8 than escaped.
    if (code < 0x80) text[to++] = code;
    else {
      if (code < 0x800) text[to++] = 0xc0 | (code >> 6);
      else {
        if (code < 0x10000) text[to++] = 0xe0 | (code >> 12);
        else {
          text[to++] = 0xf0 | (code >> 18);
          text[to++] = 0x80 | ((code >> 12) & 63);
        }
        text[to++] = 0x80 | ((code >> 6) & 63);
      }
      text[to++] = 0x80 | (code & 63);
    }
  }
  return text.subarray(0, to);
}

function hexAt(text: Buffer, at: number): number {
  let code = 0;
  for (let index = at; index < at + 4; index++) {
    const byte = text[index] ?? 0;
    code = 16 * code + (byte & 15) + (byte > 0x40 ? 9 : 0);
  }
  return code;
}

/** The six bits of each character of base64, as in RFC 4648 and for URLs; 64 for other bytes. */
const sixBits = new Uint8Array(256).fill(64);
for (const [value, character] of [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].entries())
  sixBits[character.charCodeAt(0)] = value;
sixBits[0x2d] = 62;
sixBits[0x5f] = 63;

/** Decodes base64 in place, by the rules of Node.js, which itself decodes only strings, and those cannot be overwritten. */
function decodeBase64(text: Buffer): Buffer {
  const { length } = text;
  let to = 0;
  let at = 0;
  // Four characters at a time, until one of them is no character of base64.
  for (; at + 4 <= length; at += 4) {
    const a = sixBits[text[at] as number] as number;
    const b = sixBits[text[at + 1] as number] as number;
    const c = sixBits[text[at + 2] as number] as number;
    const d = sixBits[text[at + 3] as number] as number;
    if ((a | b | c | d) & 64) break;
    text[to++] = (a << 2) | (b >> 4);
    text[to++] = (b << 4) | (c >> 2);
    text[to++] = (c << 6) | d;
  }
  let bits = 0;
  let count = 0;
  for (; at < length && text[at] !== 0x3d; at++) {
    const six = sixBits[text[at] as number] as number;
    if (six === 64) continue;
    bits = ((bits << 6) | six) & 0xffff;
    count += 6;
    if (count >= 8) {
      count -= 8;
      text[to++] = bits >> count;
    }
  }
  return text.subarray(0, to);
}
