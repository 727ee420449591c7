import type { ApiClient } from "../../kube/http/client.ts";
import { ownSecret, type SecretName, type StoredSecret } from "../../kube/secrets/own-secret.ts";
import { type Authority, trustedBy } from "./authority.ts";
import { isToken } from "./path-token.ts";
import { readBundle, readKeyPair, writeBundle } from "./pem.ts";

/** A stored authority and the Secret that an update replaces. */
interface StoredAuthority {
  readonly authority: Authority;
  readonly secret: StoredSecret;
}

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
export function authoritySecret(client: ApiClient, name: SecretName): AuthoritySecret {
  const own = ownSecret(client, name, { type: "kubernetes.io/tls", flag: "webhook-service-name" });
  return {
    async read(signal) {
      const secret = await own.read(signal);
      return secret && { authority: decode(secret, own.description), secret };
    },
    async write(before, authority, signal) {
      return { authority, secret: await own.write(before?.secret.metadata, encode(authority), signal) };
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

function decode({ data = {} }: StoredSecret, where: string): Authority {
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
