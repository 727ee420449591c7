import { readFile } from "node:fs/promises";
import type { Clock } from "../../lib/clock.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import { ClusterConfigError } from "../api/errors.ts";
import { configErrorTexts } from "./config-error-texts.ts";

/** Authentication of a request. Each credential is one object: the same object means the same credential. */
export interface Credential {
  /** `authorization`, and `impersonate-…` if the kubeconfig has `as`. Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** Client certificate and key in PEM, if a plugin returns them. New connections use them. */
  readonly certificate?: { readonly cert: string; readonly key: string } | undefined;
}

/** A source of credentials, which may change: a token, a file or a plugin. */
export interface Credentials {
  /** Returns the current credential. @throws ClusterConfigError if there is none, for example if a plugin fails. */
  current(): Promise<Credential>;
  /** Returns another credential to try once after a 401 for `rejected`; undefined if there is none. */
  renew(rejected: Credential): Promise<Credential | undefined>;
}

/** Returns credentials that do not change: a token, a password, or no header if a client certificate identifies the client. */
export function fixedCredentials(headers: Credential["headers"] = {}): Credentials {
  const credential = { headers };
  return { current: async () => credential, renew: async () => undefined };
}

/**
 * Returns the header of a bearer token
 * (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#putting-a-bearer-token-in-a-request).
 */
export function bearer(token: string): Credential["headers"] {
  return { authorization: `Bearer ${token}` };
}

/** Maximum age of a token that was read from a file, in milliseconds. After a 401 the file is read again immediately. */
export const tokenFileLifeMs = 60_000;

/**
 * Returns credentials from a token file that another program renews, such as the kubelet in a Pod
 * (https://kubernetes.io/docs/concepts/storage/projected-volumes/#serviceaccounttoken). While the file cannot be read,
 * the last token stays in use, at first `initial`. The credentials throw ClusterConfigError if there is no token yet.
 */
export function tokenFileCredentials(path: string, clock: Clock, initial?: string): Credentials {
  let token = initial;
  let credential: Credential | undefined = initial === undefined ? undefined : { headers: bearer(initial) };
  let readAt = Number.NEGATIVE_INFINITY;
  const read = async (): Promise<Credential> => {
    try {
      const found = (await readFile(path, "utf8")).trim();
      if (found === "") throw new ClusterConfigError(configErrorTexts.tokenEmpty(path));
      if (credential === undefined || found !== token) credential = { headers: bearer(found) };
      token = found;
    } catch (error) {
      if (credential === undefined) {
        if (error instanceof ClusterConfigError) throw error;
        throw new ClusterConfigError(configErrorTexts.tokenUnreadable(path, errorText(error)));
      }
    }
    readAt = clock.monotonic();
    return credential;
  };
  return {
    current: async () =>
      credential !== undefined && clock.monotonic() - readAt < tokenFileLifeMs ? credential : read(),
    renew: async (rejected) => {
      const fresh = await read();
      return fresh === rejected ? undefined : fresh;
    },
  };
}

/** Returns the same credentials with headers added to each, for impersonation. */
export function withHeaders(credentials: Credentials, headers: Credential["headers"]): Credentials {
  const ours = new WeakMap<Credential, Credential>();
  const theirs = new WeakMap<Credential, Credential>();
  const wrap = (inner: Credential): Credential => {
    const known = ours.get(inner);
    if (known !== undefined) return known;
    const outer = { ...inner, headers: { ...inner.headers, ...headers } };
    ours.set(inner, outer);
    theirs.set(outer, inner);
    return outer;
  };
  return {
    current: async () => wrap(await credentials.current()),
    renew: async (rejected) => {
      const inner = await credentials.renew(theirs.get(rejected) ?? rejected);
      return inner && wrap(inner);
    },
  };
}
