import { randomBytes } from "node:crypto";
import { type HashKey, type HashKeys, hashKey, hashKeyBytes } from "../../domain/policy/hash-key.ts";
import { rotateHashKey } from "../../domain/references/annotations.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../../kube/api/api-failure.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { type OwnSecret, ownSecret, type SecretName, type StoredSecret } from "../../kube/secrets/own-secret.ts";
import type { Logger } from "../../telemetry/logging/log.ts";

/** The keys that all replicas share. */
export type StoredKeys = Pick<HashKeys, "current" | "previous">;

/** The stored keys and the Secret that an update replaces. */
interface ReadKeys {
  readonly keys: StoredKeys;
  /** Whether the Secret has the annotation that requests a new key. */
  readonly rotate: boolean;
  readonly secret: StoredSecret;
}

/** Timeout of one request. It is short because a write may wait for it. */
const timeoutMs = 5000;

/** Returns access to the Secret with the hash keys: type `Opaque`, the current key as `key`, the previous one as `previous`, 32 bytes each. */
export function hashKeySecret(client: Pick<ApiClient, "request">, name: SecretName): OwnSecret {
  return ownSecret(client, name, { type: "Opaque", flag: "hash-key-secret", timeoutMs });
}

/**
 * Returns the stored keys; undefined if there is no Secret.
 * @throws Error of one line with the next step if another program made the Secret or it is damaged; ApiError, ConnectionError.
 */
export async function readStoredKeys(own: OwnSecret, signal?: AbortSignal): Promise<ReadKeys | undefined> {
  const secret = await own.read(signal);
  const rotate = secret?.metadata.annotations?.[rotateHashKey] === "true";
  return secret && { keys: decode(secret, own.description), rotate, secret };
}

/** Returns the metadata that an update keeps: all but the rotation request. */
function withoutRotation({ metadata }: StoredSecret): StoredSecret["metadata"] {
  const { [rotateHashKey]: _rotation, ...annotations } = metadata.annotations ?? {};
  return { ...metadata, annotations };
}

function encode({ current, previous }: StoredKeys): Record<string, string> {
  const text = ({ secret }: HashKey) => secret.export().toString("base64");
  return { key: text(current), ...(previous && { previous: text(previous) }) };
}

function decode({ data = {} }: StoredSecret, where: string): StoredKeys {
  const bytesOf = (field: string) => {
    const bytes = Buffer.from(data[field] ?? "", "base64");
    if (bytes.length === hashKeyBytes) return bytes;
    const advice = "restore or delete the Secret; a lost key restarts no workload";
    throw new Error(`${where} is damaged: "${field}" is not ${hashKeyBytes} bytes long; ${advice}`);
  };
  const current = hashKey(bytesOf("key"));
  return { current, previous: data.previous === undefined ? undefined : hashKey(bytesOf("previous")) };
}

interface ReconcileHashKeysOptions {
  readonly secret: OwnSecret;
  /** The keys that this process knows, which are written back if the Secret was deleted. */
  readonly known: StoredKeys | undefined;
  /** Creates the bytes of a key. Default: random bytes. */
  readonly newBytes?: (() => Uint8Array) | undefined;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Number of conflicts in a row that are retried. The next one is a failure. */
const maxConflicts = 5;

/** Reads the keys, and creates, restores or rotates them if due: no key is used before it is stored. Rejects as {@link readStoredKeys}. */
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
  newBytes = () => randomBytes(hashKeyBytes),
  log,
  signal,
}: ReconcileHashKeysOptions): Promise<StoredKeys> {
  const { description } = secret;
  const read = await readStoredKeys(secret, signal);
  if (read === undefined) {
    const keys = known ?? { current: newKey(newBytes, []), previous: undefined };
    await secret.write(undefined, encode(keys), signal);
    const message = known === undefined ? "created the hash key" : "restored the deleted hash key";
    log.info(message, { key: keys.current.id, secret: description });
    return keys;
  }
  if (!read.rotate) return read.keys;
  const { current, previous } = read.keys;
  const keys = { current: newKey(newBytes, previous ? [current, previous] : [current]), previous: current };
  await secret.write(withoutRotation(read.secret), encode(keys), signal);
  log.info("rotated the hash key on request", { key: keys.current.id, previous: current.id, secret: description });
  return keys;
}

function newKey(newBytes: () => Uint8Array, others: readonly HashKey[]): HashKey {
  for (;;) {
    const key = hashKey(newBytes());
    if (!others.some(({ id }) => id === key.id)) return key;
  }
}
