import type { Secret } from "#kubernetes";
import { type HashKey, type HashKeys, hashKey, hashKeyBytes } from "../../domain/policy/hash-key.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { getIfExists } from "../../kube/reads/get-if-exists.ts";

/** The keys that all replicas share. */
export type StoredKeys = Pick<HashKeys, "current" | "previous">;

export interface HashKeySecretName {
  readonly namespace: string;
  readonly name: string;
}

type StoredSecret = KubeObject & Pick<Secret, "type" | "data">;

/** The stored keys and the Secret that an update replaces. */
export interface ReadKeys {
  readonly keys: StoredKeys;
  /** Whether the Secret has the annotation that requests a new key. */
  readonly rotate: boolean;
  readonly secret: StoredSecret;
}

/** Annotation on the Secret: "true" requests a new key. Wave removes the annotation after the rotation. */
export const rotateHashKey = "wave.pusher.com/rotate-hash-key";

/** The label of a Secret that Wave created. Wave neither uses nor changes a Secret without this label. */
const managedBy = { "app.kubernetes.io/managed-by": "wave" };

/** Timeout of one request. It is short because a write may wait for it. */
const timeoutMs = 5000;

/**
 * The Secret with the hash keys: type `Opaque`, the current key as `key`, the previous one as `previous`, 32 bytes each. Reads go
 * to the API server, never to a cache. Every method also throws ApiError and ConnectionError.
 */
export interface HashKeySecret {
  /** Name and namespace, for messages. */
  readonly description: string;
  /**
   * Returns the stored keys; undefined if there is no Secret.
   * @throws Error of one line with the next step if another program made the Secret or it is damaged.
   */
  read(signal?: AbortSignal): Promise<ReadKeys | undefined>;
  /** Creates the Secret. @throws ApiError 409 if it exists: another replica was first. */
  create(keys: StoredKeys, signal: AbortSignal): Promise<void>;
  /** Replaces the keys and removes the rotation request. @throws ApiError 409 or 404 if the Secret has changed since it was read. */
  replace(read: ReadKeys, keys: StoredKeys, signal: AbortSignal): Promise<void>;
}

/** Returns access to the Secret of this name. */
export function hashKeySecret(
  client: Pick<ApiClient, "request">,
  { namespace, name }: HashKeySecretName,
): HashKeySecret {
  const path = resourcePath(resources.secrets, { namespace, name });
  const description = `Secret "${name}" in namespace "${namespace}"`;
  const query = { fieldManager: "wave" };
  return {
    description,
    async read(signal) {
      const secret = await getIfExists<StoredSecret>(client, { path, signal, timeoutMs });
      return secret && { keys: decode(secret, description), rotate: rotationRequested(secret), secret };
    },
    async create(keys, signal) {
      const metadata = { namespace, name, labels: managedBy };
      const body: Secret = { apiVersion: "v1", kind: "Secret", type: "Opaque", metadata, data: encode(keys) };
      const parent = resourcePath(resources.secrets, { namespace });
      await client.request({ method: "POST", path: parent, query, body, signal, timeoutMs });
    },
    async replace({ secret: { metadata } }, keys, signal) {
      const { [rotateHashKey]: _rotation, ...annotations } = metadata.annotations ?? {};
      const body: Secret = {
        apiVersion: "v1",
        kind: "Secret",
        type: "Opaque",
        metadata: { ...metadata, annotations },
        data: encode(keys),
      };
      await client.request({ method: "PUT", path, query, body, signal, timeoutMs });
    },
  };
}

function rotationRequested({ metadata }: StoredSecret): boolean {
  return metadata.annotations?.[rotateHashKey] === "true";
}

function encode({ current, previous }: StoredKeys): Record<string, string> {
  const text = ({ secret }: HashKey) => secret.export().toString("base64");
  return { key: text(current), ...(previous && { previous: text(previous) }) };
}

function decode({ metadata, data = {} }: StoredSecret, where: string): StoredKeys {
  if (metadata.labels?.["app.kubernetes.io/managed-by"] !== "wave") {
    throw new Error(`${where} was not created by Wave; delete or rename it, or set another --hash-key-secret`);
  }
  const bytesOf = (field: string) => {
    const bytes = Buffer.from(data[field] ?? "", "base64");
    if (bytes.length === hashKeyBytes) return bytes;
    const advice = "restore or delete the Secret; a lost key restarts no workload";
    throw new Error(`${where} is damaged: "${field}" is not ${hashKeyBytes} bytes long; ${advice}`);
  };
  const current = hashKey(bytesOf("key"));
  return { current, previous: data.previous === undefined ? undefined : hashKey(bytesOf("previous")) };
}
