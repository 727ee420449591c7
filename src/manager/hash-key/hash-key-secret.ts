import type { Secret } from "kubernetes-types/core/v1.d.ts";
import { type HashKey, type HashKeys, hashKey, hashKeyBytes } from "../../domain/policy/hash-key.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { readIfThere } from "../../kube/reads/read-if-there.ts";

/** The keys that every replica has. */
export type StoredKeys = Pick<HashKeys, "current" | "previous">;

/** Where the keys are stored. */
export interface SecretName {
  readonly namespace: string;
  readonly name: string;
}

type StoredSecret = KubeObject & Pick<Secret, "type" | "data">;

/** The keys as they were read, and the object to replace when they change. */
export interface ReadKeys {
  readonly keys: StoredKeys;
  /** Whether somebody asks for a new key. */
  readonly rotate: boolean;
  readonly secret: StoredSecret;
}

/** On the Secret, written by a person: "true" asks for a new key; Wave takes it away when there is one. */
export const rotateHashKey = "wave.pusher.com/rotate-hash-key";

/** Marks a Secret as made by Wave; without it, Wave neither uses nor changes one. */
const managedBy = { "app.kubernetes.io/managed-by": "wave" };

/** Of one request: whoever waits for it is about to write. */
const timeoutMs = 5000;

/**
 * The Secret with the keys of hashes: type `Opaque`, the current key as `key`, the one before as `previous`, 32 bytes each.
 * Always read from the API server, never from a cache. Every method also throws ApiError and ConnectionError.
 */
export interface HashKeySecret {
  /** For messages. */
  readonly where: string;
  /**
   * The keys as they are now; undefined where there is no Secret.
   * @throws Error in one line that says what to do where the Secret is not Wave's or cannot be understood.
   */
  read(signal?: AbortSignal): Promise<ReadKeys | undefined>;
  /** Stores keys where there is no Secret. @throws ApiError 409 where there is one: another replica was first. */
  create(keys: StoredKeys, signal: AbortSignal): Promise<void>;
  /** Stores keys in place of what was read, as asked. @throws ApiError 409 or 404 where the Secret is no longer as it was read. */
  replace(read: ReadKeys, keys: StoredKeys, signal: AbortSignal): Promise<void>;
}

/** The Secret of this name on the API server. */
export function hashKeySecret(client: Pick<ApiClient, "request">, { namespace, name }: SecretName): HashKeySecret {
  const path = resourcePath(resources.secrets, { namespace, name });
  const where = `Secret "${name}" in namespace "${namespace}"`;
  const query = { fieldManager: "wave" };
  return {
    where,
    async read(signal) {
      const secret = await readIfThere<StoredSecret>(client, { path, signal, timeoutMs });
      return secret && { keys: decode(secret, where), rotate: asksForRotation(secret), secret };
    },
    async create(keys, signal) {
      const metadata = { namespace, name, labels: managedBy };
      const body: Secret = { apiVersion: "v1", kind: "Secret", type: "Opaque", metadata, data: encode(keys) };
      const parent = resourcePath(resources.secrets, { namespace });
      await client.request({ method: "POST", path: parent, query, body, signal, timeoutMs });
    },
    async replace({ secret: { metadata } }, keys, signal) {
      const { [rotateHashKey]: _asked, ...annotations } = metadata.annotations ?? {};
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

function asksForRotation({ metadata }: StoredSecret): boolean {
  return metadata.annotations?.[rotateHashKey] === "true";
}

function encode({ current, previous }: StoredKeys): Record<string, string> {
  const text = ({ secret }: HashKey) => secret.export().toString("base64");
  return { key: text(current), ...(previous && { previous: text(previous) }) };
}

function decode({ metadata, data = {} }: StoredSecret, where: string): StoredKeys {
  if (metadata.labels?.["app.kubernetes.io/managed-by"] !== "wave") {
    throw new Error(`${where} was not made by Wave; delete or rename it, or name another with --hash-key-secret`);
  }
  const bytesOf = (field: string) => {
    const bytes = Buffer.from(data[field] ?? "", "base64");
    if (bytes.length === hashKeyBytes) return bytes;
    const advice = "restore it, or delete it: a lost key restarts nobody";
    throw new Error(`${where} is damaged: "${field}" is not ${hashKeyBytes} bytes long; ${advice}`);
  };
  const current = hashKey(bytesOf("key"));
  return { current, previous: data.previous === undefined ? undefined : hashKey(bytesOf("previous")) };
}
