// Secrets that Wave alone writes. Knows no content.
import type { Secret } from "#kubernetes";
import { type KubeObject, resourcePath, resources } from "../api/resources.ts";
import type { ApiClient } from "../http/client.ts";
import { getIfExists } from "../reads/reads.ts";

/** A Secret as it is stored. */
export type StoredSecret = KubeObject & Pick<Secret, "type" | "data">;

/** The name of a Secret and its namespace, which may differ from the namespace of Wave. */
export interface SecretName {
  readonly namespace: string;
  readonly name: string;
}

/** A Secret that only Wave writes, for all its replicas. Reads go to the API server, never to a cache. */
export type OwnSecret = ReturnType<typeof ownSecret>;

interface OwnSecretKind {
  readonly type: "Opaque" | "kubernetes.io/tls";
  /** The flag with its name, for the error if another program made it. */
  readonly flag: string;
  readonly timeoutMs?: number;
}

/** The label of a Secret that Wave created. Wave neither uses nor changes a Secret without this label. */
const label = "app.kubernetes.io/managed-by";

/** Returns access to the Secret of this name. */
export function ownSecret(
  client: Pick<ApiClient, "request">,
  { namespace, name }: SecretName,
  { type, flag, ...limits }: OwnSecretKind,
) {
  const path = resourcePath(resources.secrets, { namespace, name });
  const description = `Secret "${name}" in namespace "${namespace}"`;
  return {
    /** Name and namespace, for messages. */
    description,
    /** Returns the Secret; undefined if it does not exist. @throws Error with the next step if another program made it; ApiError, ConnectionError. */
    async read(signal?: AbortSignal): Promise<StoredSecret | undefined> {
      const secret = await getIfExists<StoredSecret>(client, { path, signal, ...limits });
      if (secret !== undefined && secret.metadata.labels?.[label] !== "wave")
        throw new Error(`${description} was not created by Wave; delete or rename it, or set another --${flag}`);
      return secret;
    },
    /**
     * Creates the Secret, or replaces it if `before` is its metadata as read.
     * @throws ApiError 409 or 404 if the Secret has changed since then, or exists: another replica was first.
     */
    write: (
      before: KubeObject["metadata"] | undefined,
      data: Readonly<Record<string, string>>,
      signal: AbortSignal,
    ): Promise<StoredSecret> =>
      client.request<StoredSecret>({
        method: before ? "PUT" : "POST",
        path: before ? path : resourcePath(resources.secrets, { namespace }),
        query: { fieldManager: "wave" },
        body: {
          apiVersion: "v1",
          kind: "Secret",
          type,
          metadata: before ?? { namespace, name, labels: { [label]: "wave" } },
          data,
        } satisfies Secret,
        signal,
        ...limits,
      }),
  };
}
