import { createHmac, createSecretKey, type KeyObject } from "node:crypto";

/** A key under which hashes are made. Nothing that prints or serializes it shows its bytes. */
export interface HashKey {
  /** 8 hexadecimal digits, made from the key, by which a hash names it; they tell nothing about it. */
  readonly id: string;
  readonly secret: KeyObject;
}

/** The keys that a replica has. */
export interface HashKeys {
  /** Every new hash is under this one. */
  readonly current: HashKey;
  /** The one before. Hashes under it stay until configuration changes. */
  readonly previous: HashKey | undefined;
  /**
   * Kept nowhere but in this process, and gone with it: what a hash under one of these stands for is recorded anew,
   * while that can still be told.
   */
  readonly remembered: readonly HashKey[];
}

/** How long a key is, in bytes: as long as what SHA-256 makes of it, so that neither is the weaker part. */
export const hashKeyBytes = 32;

/** The key of these bytes. Throws a RangeError where there are not {@link hashKeyBytes} of them. */
export function hashKey(bytes: Uint8Array): HashKey {
  if (bytes.length !== hashKeyBytes) throw new RangeError(`a key has ${hashKeyBytes} bytes, not ${bytes.length}`);
  const secret = createSecretKey(bytes);
  return { id: hmac(secret, idDomain).slice(0, 8), secret };
}

/** HMAC-SHA-256 (RFC 2104), as 64 hexadecimal digits. */
export function hmac(secret: KeyObject, message: string | Uint8Array): string {
  return createHmac("sha256", secret).update(message).digest("hex");
}

/** No hash is over these bytes: what they are over begins otherwise. */
const idDomain = "wave.pusher.com/hash-key id\n";
