import { randomBytes } from "node:crypto";
import { type HashKey, hashKey, hashKeyBytes } from "../../domain/policy/hash-key.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../../kube/api/errors.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { HashKeySecret, StoredKeys } from "./hash-key-secret.ts";

interface ReconcileHashKeysOptions {
  readonly secret: HashKeySecret;
  /** The keys that this process knows, which are written back if the Secret was deleted. */
  readonly known: StoredKeys | undefined;
  /** Creates the bytes of a key. Default: random bytes. */
  readonly newBytes?: (() => Uint8Array) | undefined;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Number of conflicts in a row that are retried. The next one is a failure. */
const maxConflicts = 5;

/**
 * Reads the keys, and creates, restores or rotates them if that is due. Resolves with the stored keys, so that no key is used before
 * it is stored. Rejects with the errors of {@link HashKeySecret}.
 */
export async function reconcileHashKeys(options: ReconcileHashKeysOptions): Promise<StoredKeys> {
  for (let conflicts = 0; ; conflicts++) {
    try {
      return await attempt(options);
    } catch (error) {
      const conflicted = isConflict(error) || isAlreadyExists(error) || isNotFound(error);
      if (!conflicted || conflicts === maxConflicts) throw error;
    }
  }
}

async function attempt({
  secret,
  known,
  newBytes = randomKey,
  log,
  signal,
}: ReconcileHashKeysOptions): Promise<StoredKeys> {
  const { description } = secret;
  const read = await secret.read(signal);
  if (read === undefined) {
    const keys = known ?? { current: newKey(newBytes, []), previous: undefined };
    await secret.write(undefined, keys, signal);
    const message = known === undefined ? "created the hash key" : "restored the deleted hash key";
    log.info(message, { key: keys.current.id, secret: description });
    return keys;
  }
  if (!read.rotate) return read.keys;
  const { current, previous } = read.keys;
  const keys = { current: newKey(newBytes, previous ? [current, previous] : [current]), previous: current };
  await secret.write(read, keys, signal);
  log.info("rotated the hash key on request", { key: keys.current.id, previous: current.id, secret: description });
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
