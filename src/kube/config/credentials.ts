import { readFile } from "node:fs/promises";
import type { Clock } from "../../lib/clock.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import { ClusterConfigError } from "../api/errors.ts";

/** What a request carries to say who asks. An object of its own for each credential: the same one means the same object. */
export interface Credential {
  /** `authorization`, and `impersonate-…` where the kubeconfig says `as`. Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** A client certificate in PEM, and its key, where a plugin gives one: connections are then made with it. */
  readonly certificate?: { readonly cert: string; readonly key: string } | undefined;
}

/** Where credentials come from. */
export interface Credentials {
  /** The credential to use now. @throws ClusterConfigError where there is none, such as a plugin that fails. */
  current(): Promise<Credential>;
  /** Called when the server answered 401 to `rejected`: another credential to try once, or undefined where there is none. */
  renew(rejected: Credential): Promise<Credential | undefined>;
}

/** Credentials that stay the same: a token, a password, or none (the client certificate, if any, says who asks). */
export function fixedCredentials(headers: Credential["headers"] = {}): Credentials {
  const credential = { headers };
  return { current: async () => credential, renew: async () => undefined };
}

/** The header for a bearer token. */
export function bearer(token: string): Credential["headers"] {
  return { authorization: `Bearer ${token}` };
}

/** A token file is read again when what was read of it is older than this, and at once after a 401. */
export const tokenFileLifeMs = 60_000;

/**
 * The token in a file that somebody renews, as the kubelet does in a Pod
 * (https://kubernetes.io/docs/concepts/storage/projected-volumes/#serviceaccounttoken). While the file cannot be read
 * the last token read stays in use, at first `initial`. Its credentials throw ClusterConfigError where there is none yet.
 */
export function tokenFileCredentials(path: string, clock: Clock, initial?: string): Credentials {
  let token = initial;
  let credential: Credential | undefined = initial === undefined ? undefined : { headers: bearer(initial) };
  let readAt = Number.NEGATIVE_INFINITY;
  const read = async (): Promise<Credential> => {
    try {
      const found = (await readFile(path, "utf8")).trim();
      if (found === "") throw new ClusterConfigError(`the token file ${path} is empty`);
      if (credential === undefined || found !== token) credential = { headers: bearer(found) };
      token = found;
    } catch (error) {
      if (credential === undefined) {
        if (error instanceof ClusterConfigError) throw error;
        throw new ClusterConfigError(`the token file ${path} cannot be read: ${errorText(error)}`);
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

/** The same credentials with headers added to each: impersonation. */
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
