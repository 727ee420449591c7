import type { Secret } from "#kubernetes";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { getIfExists } from "../../kube/reads/get-if-exists.ts";
import { type Authority, trustedBy } from "./authority.ts";
import { isToken } from "./path-token.ts";
import { readBundle, readKeyPair, writeBundle } from "./pem.ts";

type StoredSecret = KubeObject & Pick<Secret, "type" | "data">;

/** A stored authority and the Secret that an update replaces. */
export interface StoredAuthority {
  readonly authority: Authority;
  readonly secret: StoredSecret;
}

export interface AuthoritySecretName {
  readonly namespace: string;
  readonly name: string;
}

/** The label of a Secret that Wave created. Wave neither uses nor changes a Secret without this label. */
const managedBy = { "app.kubernetes.io/managed-by": "wave" };

/**
 * The Secret with the authority, of type `kubernetes.io/tls`:
 * - `tls.crt`, `tls.key`: the current authority
 * - `ca.crt`: all trusted authorities
 * - `next.crt`, `next.key`: the next authority, if there is one
 * - `previous-tokens`: older tokens whose paths are still answered, one per line
 */
export interface AuthoritySecret {
  /**
   * Returns the stored authority; undefined if there is no Secret.
   * @throws Error with the next step if another program made the Secret or it is damaged; ApiError, ConnectionError.
   */
  read(signal: AbortSignal): Promise<StoredAuthority | undefined>;
  /**
   * Replaces `before` with `authority`.
   * @throws ApiError 409 or 404 if the Secret has changed since it was read: another replica was first.
   */
  write(before: StoredAuthority | undefined, authority: Authority, signal: AbortSignal): Promise<StoredAuthority>;
}

/** Returns access to the Secret of this name. Reads go to the API server, never to a cache. */
export function authoritySecret(client: ApiClient, { namespace, name }: AuthoritySecretName): AuthoritySecret {
  const path = resourcePath(resources.secrets, { namespace, name });
  const where = `Secret "${name}" in namespace "${namespace}"`;
  return {
    async read(signal) {
      const secret = await getIfExists<StoredSecret>(client, { path, signal });
      return secret && { authority: decode(secret, where), secret };
    },
    async write(before, authority, signal) {
      const object: Secret = {
        apiVersion: "v1",
        kind: "Secret",
        type: "kubernetes.io/tls",
        metadata: before?.secret.metadata ?? { namespace, name, labels: managedBy },
        data: encode(authority),
      };
      const secret = await client.request<StoredSecret>({
        method: before ? "PUT" : "POST",
        path: before ? path : resourcePath(resources.secrets, { namespace }),
        query: { fieldManager: "wave" },
        body: object,
        signal,
      });
      return { authority, secret };
    },
  };
}

function encode(authority: Authority): Record<string, string> {
  const { current, next, previousTokens } = authority;
  const texts = {
    "tls.crt": current.certificate.pem,
    "tls.key": current.key,
    "ca.crt": writeBundle(trustedBy(authority)),
    ...(next ? { "next.crt": next.certificate.pem, "next.key": next.key } : {}),
    ...(previousTokens.length > 0 ? { "previous-tokens": previousTokens.join("\n") } : {}),
  };
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]));
}

function decode({ metadata, data = {} }: StoredSecret, where: string): Authority {
  if (metadata.labels?.["app.kubernetes.io/managed-by"] !== "wave") {
    throw new Error(`${where} was not created by Wave; delete or rename it, or set another --webhook-service-name`);
  }
  const text = (key: string) => Buffer.from(data[key] ?? "", "base64").toString("utf8");
  try {
    const current = readKeyPair(text("tls.crt"), text("tls.key"));
    const next = "next.crt" in data ? readKeyPair(text("next.crt"), text("next.key")) : undefined;
    const signing = [current.certificate.fingerprint, next?.certificate.fingerprint];
    const previous = readBundle(text("ca.crt")).filter(({ fingerprint }) => !signing.includes(fingerprint));
    const previousTokens = text("previous-tokens").split("\n").filter(isToken);
    return { current, next, previous, previousTokens };
  } catch (cause) {
    throw new Error(`${where} is damaged; delete it, and Wave creates a new one`, { cause });
  }
}
