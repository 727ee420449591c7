import { randomBytes } from "node:crypto";
import { type HashKey, hashKey, hashKeyBytes } from "../../domain/policy/hash-key.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../../kube/api/errors.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { HashKeySecret, StoredKeys } from "./hash-key-secret.ts";

/** What one look at the Secret needs. */
export interface StepOptions {
  readonly secret: HashKeySecret;
  /** The keys that this process knows: written back where the Secret is gone. */
  readonly known: StoredKeys | undefined;
  /** A key's bytes. Default: random ones. */
  readonly newBytes?: (() => Uint8Array) | undefined;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** How often another replica may be first before its lead is taken as a failure. */
const races = 5;

/**
 * Reads the keys, and makes, writes back or rotates them where that is due; resolves with what is stored then, so that no
 * key is used before it is. Rejects with what {@link HashKeySecret} throws.
 */
export async function storedKeys(options: StepOptions): Promise<StoredKeys> {
  for (let race = 0; ; race++) {
    try {
      return await attempt(options);
    } catch (error) {
      const outrun = isConflict(error) || isAlreadyExists(error) || isNotFound(error);
      if (!outrun || race === races) throw error;
    }
  }
}

async function attempt({ secret, known, newBytes = randomKey, log, signal }: StepOptions): Promise<StoredKeys> {
  const { where } = secret;
  const read = await secret.read(signal);
  if (read === undefined) {
    const keys = known ?? { current: newKey(newBytes, []), previous: undefined };
    await secret.create(keys, signal);
    const what = known === undefined ? "made the key of hashes" : "wrote back the key of hashes, which was gone";
    log.info(what, { key: keys.current.id, secret: where });
    return keys;
  }
  if (!read.rotate) return read.keys;
  const { current, previous } = read.keys;
  const keys = { current: newKey(newBytes, previous ? [current, previous] : [current]), previous: current };
  await secret.replace(read, keys, signal);
  log.info("made a new key of hashes, as asked", { key: keys.current.id, previous: current.id, secret: where });
  return keys;
}

function randomKey(): Uint8Array {
  return randomBytes(hashKeyBytes);
}

function newKey(newBytes: () => Uint8Array, others: readonly HashKey[]): HashKey {
  for (;;) {
    const key = hashKey(newBytes());
    if (!others.some(({ id }) => id === key.id)) return key;
  }
}
