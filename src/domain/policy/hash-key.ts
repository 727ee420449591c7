import { createHmac, createSecretKey, type KeyObject } from "node:crypto";

/** A secret key of hashes. Printing or serializing it never shows its bytes. */
export interface HashKey {
  /** 8 hexadecimal digits, derived from the key, that identify it in a hash. They reveal nothing about the key. */
  readonly id: string;
  readonly secret: KeyObject;
}

/** The hash keys of a replica. */
export interface HashKeys {
  /** The key of every new hash. */
  readonly current: HashKey;
  /** The key before the current one. Hashes with this key stay until configuration changes. */
  readonly previous: HashKey | undefined;
  /**
   * Older keys, which exist only in the memory of this process. Wave records the configuration of their hashes again with the current
   * key, as long as it can still verify those hashes.
   */
  readonly remembered: readonly HashKey[];
}

/** The length of a key in bytes: the same as the output of SHA-256, so that neither is weaker. */
export const hashKeyBytes = 32;

/** Returns the key with these bytes. Throws a RangeError if their number is not {@link hashKeyBytes}. */
export function hashKey(bytes: Uint8Array): HashKey {
  if (bytes.length !== hashKeyBytes) throw new RangeError(`a key has ${hashKeyBytes} bytes, not ${bytes.length}`);
  const secret = createSecretKey(bytes);
  return { id: hmac(secret, idDomain).slice(0, 8), secret };
}

/** Returns the key with an id, as a hash has it; undefined for a hash without key, or if Wave does not have the key. */
export function keyWithId(keys: HashKeys | undefined, id: string | undefined): HashKey | undefined {
  const known = keys === undefined ? [] : [keys.current, keys.previous, ...keys.remembered];
  return known.find((key) => key !== undefined && key.id === id);
}

/** Returns the HMAC-SHA-256 (RFC 2104) of a message, as 64 hexadecimal digits. */
export function hmac(secret: KeyObject, message: string | Uint8Array): string {
  return createHmac("sha256", secret).update(message).digest("hex");
}

/** The message that the id is computed from. The message of every hash begins differently. */
const idDomain = "wave.pusher.com/hash-key id\n";
