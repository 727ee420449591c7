import type { Secret } from "kubernetes-types/core/v1.d.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { readIfThere } from "../../kube/reads/read-if-there.ts";
import { type Authority, trustedBy } from "./authority.ts";
import { isToken } from "./path-token.ts";
import { readBundle, readKeyPair, writeBundle } from "./pem.ts";

type StoredSecret = KubeObject & Pick<Secret, "type" | "data">;

/** An authority as it is stored, and the object to replace when it changes. */
export interface StoredAuthority {
  readonly authority: Authority;
  readonly secret: StoredSecret;
}

/** Where the authority is stored. */
export interface SecretName {
  readonly namespace: string;
  readonly name: string;
}

/** Marks a Secret as made by Wave; without it, Wave neither uses nor changes one. */
const managedBy = { "app.kubernetes.io/managed-by": "wave" };

/**
 * The Secret that holds the authority: type `kubernetes.io/tls`, with the current one as `tls.crt` and `tls.key`, all
 * that are trusted as `ca.crt`, the next one, if there is one, as `next.crt` and `next.key`, and the tokens of paths that
 * are still answered, besides those of these two, as `previous-tokens`, one a line.
 */
export interface AuthoritySecret {
  /**
   * The authority as it is now; undefined where there is no Secret.
   * @throws Error that says what to do where the Secret is not Wave's or cannot be understood; ApiError, ConnectionError.
   */
  read(signal: AbortSignal): Promise<StoredAuthority | undefined>;
  /**
   * Stores `authority` in place of what was read.
   * @throws ApiError 409 or 404 where the Secret is no longer as it was read: another replica was first.
   */
  write(before: StoredAuthority | undefined, authority: Authority, signal: AbortSignal): Promise<StoredAuthority>;
}

/** The Secret of this name on the API server, always read from it and never from a cache. */
export function authoritySecret(client: ApiClient, { namespace, name }: SecretName): AuthoritySecret {
  const path = resourcePath(resources.secrets, { namespace, name });
  const where = `Secret "${name}" in namespace "${namespace}"`;
  return {
    async read(signal) {
      const secret = await readIfThere<StoredSecret>(client, { path, signal });
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
    throw new Error(`${where} was not made by Wave; delete or rename it, or choose another --webhook-service-name`);
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
    throw new Error(`${where} is damaged; delete it and Wave makes a new one`, { cause });
  }
}
