/**
 * The ASN.1 values of which a certificate consists, in DER (ITU-T X.690). Each function returns one complete tag-length-value.
 * This file has only what certificates.ts writes; node:crypto does the reading.
 */

const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
};

function tagged(tag: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([tag]), length(content.length), content]);
}

/** Encodes a length below 64 KiB: one byte below 128, otherwise the number of length bytes and then these (X.690, 8.1.3). */
function length(size: number): Buffer {
  if (size < 0x80) return Buffer.from([size]);
  return Buffer.from(size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff]);
}

/** Encodes values in this order as a SEQUENCE. */
export function sequence(...values: readonly Uint8Array[]): Buffer {
  return tagged(tags.sequence, Buffer.concat(values));
}

/** Encodes a SET of exactly one value, so that DER's sorting rule does not apply. */
export function setOf(value: Uint8Array): Buffer {
  return tagged(tags.set, value);
}

/** Encodes TRUE. FALSE is never needed: in certificates it is the default, which DER omits. */
export function booleanTrue(): Buffer {
  return tagged(tags.boolean, Buffer.from([0xff]));
}

/** Encodes a non-negative integer from big-endian bytes, in the shortest form, with a zero byte before a set high bit. */
export function unsignedInteger(bytes: Uint8Array): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const shortest = Buffer.from(bytes.subarray(start));
  const negative = ((shortest[0] ?? 0) & 0x80) !== 0;
  return tagged(tags.integer, negative ? Buffer.concat([Buffer.from([0]), shortest]) : shortest);
}

/** Encodes whole bytes as a BIT STRING. */
export function bitString(bytes: Uint8Array): Buffer {
  return tagged(tags.bitString, Buffer.concat([Buffer.from([0]), bytes]));
}

/** Encodes flags as a BIT STRING without trailing zeros. Numbers start at 0, the highest bit, as in ASN.1. */
export function namedBits(...numbers: readonly number[]): Buffer {
  const last = Math.max(...numbers);
  const bytes = Buffer.alloc(Math.floor(last / 8) + 1);
  for (const number of numbers) {
    const index = Math.floor(number / 8);
    bytes[index] = (bytes[index] ?? 0) | (0x80 >> (number % 8));
  }
  return tagged(tags.bitString, Buffer.concat([Buffer.from([7 - (last % 8)]), bytes]));
}

/** Encodes bytes as an OCTET STRING. In a certificate extension, the bytes are themselves a complete DER value. */
export function octetString(bytes: Uint8Array): Buffer {
  return tagged(tags.octetString, bytes);
}

/** Encodes an object identifier from its dotted form, such as "1.2.840.10045.4.3.2". */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return tagged(tags.objectIdentifier, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift(0x80 | (rest % 128));
  return bytes;
}

/** Encodes a text as a UTF8String, such as a common name. */
export function utf8String(text: string): Buffer {
  return tagged(tags.utf8String, Buffer.from(text, "utf8"));
}

/** Encodes a time, in milliseconds since the epoch, to the second: UTCTime until 2049, then GeneralizedTime (RFC 5280, 4.1.2.5). */
export function time(ms: number): Buffer {
  const digits = `${new Date(ms).toISOString().replace(/[-:T]/g, "").slice(0, 14)}Z`;
  if (digits < "2050") return tagged(tags.utcTime, Buffer.from(digits.slice(2), "ascii"));
  return tagged(tags.generalizedTime, Buffer.from(digits, "ascii"));
}

/** Wraps a complete value in a context tag: `[number] EXPLICIT`. */
export function explicit(number: number, value: Uint8Array): Buffer {
  return tagged(0xa0 | number, value);
}

/** Encodes the content of a primitive type with a context tag instead of its own: `[number] IMPLICIT`. */
export function implicit(number: number, content: Uint8Array): Buffer {
  return tagged(0x80 | number, content);
}
