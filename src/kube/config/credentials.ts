import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../lib/clock.ts";
import { errorText } from "../../telemetry/logging/log-messages.ts";
import { ClusterConfigError } from "../api/api-failure.ts";

/** Authentication of a request. Each credential is one object: the same object means the same credential. */
export interface Credential {
  /** `authorization`; empty if only a client certificate identifies the client. Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** Client certificate and key in PEM, if a plugin returns them. New connections use them. */
  readonly certificate?: { readonly cert: string; readonly key: string } | undefined;
}

/** A value that may change while Wave runs, such as the content of files. The same object means the same value. */
export interface Renewable<T> {
  /** Returns the current value. @throws ClusterConfigError if there is none, for example if a plugin fails. */
  current(): Promise<T>;
  /**
   * Returns another value to try once after a 401 for `rejected`; undefined if there is none.
   * @throws ClusterConfigError if a file cannot be read, or a plugin fails.
   */
  renew(rejected: T): Promise<T | undefined>;
}

/** A source of credentials: a token, a file or a plugin. */
export type Credentials = Renewable<Credential>;

/** Returns a value that does not change. */
export function unchanging<T>(value: T): Renewable<T> {
  return { current: async () => value, renew: async () => undefined };
}

/** Maximum age of a value that was read from files, in milliseconds. After a 401 the files are read again immediately. */
export const fileLifeMs = 60_000;

/**
 * Returns the value that `read` takes from files. Another program replaces them, such as the kubelet in a Pod
 * (https://kubernetes.io/docs/concepts/storage/projected-volumes/#serviceaccounttoken). While `read` fails, `current` returns the
 * last value, at first `initial`, and throws the error of `read` if there is no value yet.
 */
export function readAgain<T>(clock: Clock, read: () => Promise<T>, initial?: T): Renewable<T> {
  let value = initial;
  let readAt = Number.NEGATIVE_INFINITY;
  const readNow = async (): Promise<T> => {
    readAt = clock.monotonic();
    const found = await read();
    if (value === undefined || !isDeepStrictEqual(found, value)) value = found;
    return value;
  };
  return {
    current: async () => {
      const last = value;
      if (last === undefined) return readNow();
      return clock.monotonic() - readAt < fileLifeMs ? last : readNow().catch(() => last);
    },
    renew: async (rejected) => {
      const fresh = await readNow();
      return fresh === rejected ? undefined : fresh;
    },
  };
}

/** Returns credentials that do not change: a token, a password, or no header if a client certificate identifies the client. */
export function fixedCredentials(headers: Credential["headers"] = {}): Credentials {
  return unchanging({ headers });
}

/** Returns a header value with one character per UTF-8 byte, as Go sends it; undefined if it has a control character. */
export function headerValue(text: string): string | undefined {
  return /\p{Cc}/u.test(text) ? undefined : Buffer.from(text).toString("latin1");
}

/**
 * Returns the header of a bearer token
 * (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#putting-a-bearer-token-in-a-request).
 */
export function bearer(token: string): Credential["headers"] {
  return { authorization: `Bearer ${token}` };
}

/** Returns the credentials of a token file; see {@link readAgain}. Until the file can be read, `initial` is the token. */
export function tokenFileCredentials(path: string, clock: Clock, initial?: string): Credentials {
  const read = async (): Promise<Credential> => {
    const text = await readFile(path, "utf8").catch((error) => {
      throw new ClusterConfigError(configErrorTexts.tokenUnreadable(path, errorText(error)));
    });
    const token = headerValue(text.trim());
    if (token === undefined) throw new ClusterConfigError(configErrorTexts.tokenFileControl(path));
    if (token === "") throw new ClusterConfigError(configErrorTexts.tokenEmpty(path));
    return { headers: bearer(token) };
  };
  return readAgain(clock, read, initial === undefined ? undefined : { headers: bearer(initial) });
}

/** The problem of a text that becomes a header of requests. It follows the name of a field or file. */
export const controlCharacter = "contains a control character, such as a line break; remove it";

/** The errors about kubeconfigs and credentials, one line each. */
export const configErrorTexts = {
  noCluster: (home: string) =>
    `no cluster configured: $KUBECONFIG is not set, Wave does not run in a Pod, and ${home} does not exist; set --kubeconfig FILE`,
  noHome:
    "no cluster configured: $KUBECONFIG is not set, Wave does not run in a Pod, and the user has no home directory; set --kubeconfig FILE",
  noServiceAccount: (folder: string, cause: string) =>
    `cannot read the ServiceAccount of the Pod in ${folder}: ${cause}; set automountServiceAccountToken: true`,
  groupWithoutUser: "--as-group needs --as, the user to impersonate",
  flagFileNotFound: (file: string) => `--kubeconfig: file ${file} not found`,
  variableFilesNotFound: (files: string) => `$KUBECONFIG: no such file: ${files}`,
  kubeconfigUnreadable: (file: string, cause: string) => `cannot read kubeconfig ${file}: ${cause}`,
  noContext: (files: string, choice: string) => `${files}: current-context is not set; set --context (${choice})`,
  contextNotFound: (files: string, name: string, choice: string) => `${files}: context ${name} not found (${choice})`,
  pluginFailed: (file: string, place: string, command: string, cause: string) =>
    `${file}: ${place}: credential plugin ${command} failed: ${cause}`,
  invalidProxy: (variable: string) =>
    `$${variable} is not a URL of a proxy; use http://, https:// or socks5:// with a host and a port`,
  tokenUnreadable: (file: string, cause: string) => `cannot read token file ${file}: ${cause}`,
  tokenFileControl: (file: string) => `token file ${file} ${controlCharacter}`,
  tokenEmpty: (file: string) => `token file ${file} is empty`,
} as const;
