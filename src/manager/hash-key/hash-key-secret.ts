import { type HashKey, type HashKeys, hashKey, hashKeyBytes } from "../../domain/policy/hash-key.ts";
import { rotateHashKey } from "../../domain/references/annotations.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { type OwnSecret, ownSecret, type SecretName, type StoredSecret } from "../../kube/secrets/own-secret.ts";

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

/** The Secret with the hash keys: type `Opaque`, the current key as `key`, the previous one as `previous`, 32 bytes each. */
export interface HashKeySecret extends Pick<OwnSecret, "description"> {
  /**
   * Returns the stored keys; undefined if there is no Secret.
   * @throws Error of one line with the next step if another program made the Secret or it is damaged; ApiError, ConnectionError.
   */
  read(signal?: AbortSignal): Promise<ReadKeys | undefined>;
  /**
   * Creates the Secret, or replaces the keys that were read and removes the rotation request.
   * @throws ApiError 409 or 404 if another replica was first; ConnectionError.
   */
  write(before: ReadKeys | undefined, keys: StoredKeys, signal: AbortSignal): Promise<void>;
}

/** Returns access to the Secret of this name. */
export function hashKeySecret(client: Pick<ApiClient, "request">, name: SecretName): HashKeySecret {
  const own = ownSecret(client, name, { type: "Opaque", flag: "hash-key-secret", timeoutMs });
  return {
    description: own.description,
    async read(signal) {
      const secret = await own.read(signal);
      return secret && { keys: decode(secret, own.description), rotate: rotationRequested(secret), secret };
    },
    async write(before, keys, signal) {
      await own.write(before && withoutRotation(before.secret), encode(keys), signal);
    },
  };
}

function withoutRotation({ metadata }: StoredSecret): StoredSecret["metadata"] {
  const { [rotateHashKey]: _rotation, ...annotations } = metadata.annotations ?? {};
  return { ...metadata, annotations };
}

function rotationRequested({ metadata }: StoredSecret): boolean {
  return metadata.annotations?.[rotateHashKey] === "true";
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
