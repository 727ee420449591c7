/**
 * The few ASN.1 values that a certificate is made of, in DER (ITU-T X.690): each function returns one whole
 * tag-length-value. Only what certificates.ts writes is here; reading is left to node:crypto.
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

/** Below 128 one byte; above, a byte that says how many bytes of length follow (X.690, 8.1.3). */
function length(size: number): Buffer {
  if (size < 0x80) return Buffer.from([size]);
  const bytes = bigEndian(size);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}

function bigEndian(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return bytes;
}

/** Values in this order, as one value. */
export function sequence(...values: readonly Uint8Array[]): Buffer {
  return tagged(tags.sequence, Buffer.concat(values));
}

/** A set of exactly one value, so that DER's rule of sorting never matters. */
export function setOf(value: Uint8Array): Buffer {
  return tagged(tags.set, value);
}

/** TRUE. FALSE is never written: where a certificate has it, it is the default and left out. */
export function booleanTrue(): Buffer {
  return tagged(tags.boolean, Buffer.from([0xff]));
}

/** A number that is not negative, from its big-endian bytes: the shortest form, with a zero before a set high bit. */
export function unsignedInteger(bytes: Uint8Array): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const shortest = Buffer.from(bytes.subarray(start));
  const negative = ((shortest[0] ?? 0) & 0x80) !== 0;
  return tagged(tags.integer, negative ? Buffer.concat([Buffer.from([0]), shortest]) : shortest);
}

/** Whole bytes as bits. */
export function bitString(bytes: Uint8Array): Buffer {
  return tagged(tags.bitString, Buffer.concat([Buffer.from([0]), bytes]));
}

/** The bits of a list of flags, numbered from 0 as ASN.1 does (0 is the highest bit), without zeros at the end. */
export function namedBits(...numbers: readonly number[]): Buffer {
  const last = Math.max(...numbers);
  const bytes = Buffer.alloc(Math.floor(last / 8) + 1);
  for (const number of numbers) {
    const index = Math.floor(number / 8);
    bytes[index] = (bytes[index] ?? 0) | (0x80 >> (number % 8));
  }
  return tagged(tags.bitString, Buffer.concat([Buffer.from([7 - (last % 8)]), bytes]));
}

/** Bytes as they are. */
export function octetString(bytes: Uint8Array): Buffer {
  return tagged(tags.octetString, bytes);
}

/** An object identifier from its dotted form, such as "1.2.840.10045.4.3.2". */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return tagged(tags.objectIdentifier, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift(0x80 | (rest % 128));
  return bytes;
}

/** Text in UTF-8. */
export function utf8String(text: string): Buffer {
  return tagged(tags.utf8String, Buffer.from(text, "utf8"));
}

/** A moment to the second, `ms` since the epoch: UTCTime up to 2049, GeneralizedTime from 2050 (RFC 5280, 4.1.2.5). */
export function time(ms: number): Buffer {
  const digits = `${new Date(ms).toISOString().replace(/[-:T]/g, "").slice(0, 14)}Z`;
  if (digits < "2050") return tagged(tags.utcTime, Buffer.from(digits.slice(2), "ascii"));
  return tagged(tags.generalizedTime, Buffer.from(digits, "ascii"));
}

/** A whole value inside a context tag: `[number] EXPLICIT`. */
export function explicit(number: number, value: Uint8Array): Buffer {
  return tagged(0xa0 | number, value);
}

/** Bytes under a context tag in place of their own: `[number] IMPLICIT`, of a primitive type. */
export function implicit(number: number, content: Uint8Array): Buffer {
  return tagged(0x80 | number, content);
}
