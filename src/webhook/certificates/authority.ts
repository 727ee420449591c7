import { randomBytes } from "node:crypto";
import type { ApiClient } from "../../kube/http/client.ts";
import { ownSecret, type SecretName, type StoredSecret } from "../../kube/secrets/own-secret.ts";
import { createAuthority } from "./certificates.ts";
import { isToken, tokenOf } from "./path-token.ts";
import { type Certificate, type KeyPair, readBundle, readKeyPair, writeBundle } from "./pem.ts";

/**
 * The certificate authority that all replicas share, and when it changes. The secret path of the webhook is derived from it.
 * contributing/adr/0005-webhook-certificates.md explains why no change breaks a TLS handshake or rejects a registered path.
 */

/** The authority that signs now, the next one, and the previous ones that are still trusted. */
export interface Authority {
  /** The authority that issues serving certificates. */
  readonly current: KeyPair;
  /** The successor: already trusted, current later. Undefined most of the time. */
  readonly next: KeyPair | undefined;
  /** Authorities without a key. Certificates that they issued may still be served. */
  readonly previous: readonly Certificate[];
  /** Path tokens of previous authorities, which API servers may still use; the last registered token first. */
  readonly previousTokens: readonly string[];
}

/** Durations in milliseconds. Certificates have a precision of one second. */
export interface Lifetimes {
  /** Validity of an authority. Wave prepares its successor when a third of this time is left. */
  readonly authorityMs: number;
  /** Validity of a serving certificate. Wave renews it when a third of this time is left. */
  readonly servingMs: number;
  /**
   * How long a replica must have seen the next authority published before it promotes it. Also how long it must have seen
   * the path of the current authority registered before it rejects older paths.
   */
  readonly overlapMs: number;
  /**
   * How long a replica with a valid certificate must have seen another authority published before it serves with that
   * authority and registers its path. This is longer than API servers and other replicas need to see a change.
   */
  readonly holdMs: number;
}

/** The lifetimes in production: a year, 30 days, an hour, 30 seconds. */
export const defaultLifetimes: Lifetimes = {
  authorityMs: 365 * 86_400_000,
  servingMs: 30 * 86_400_000,
  overlapMs: 3_600_000,
  holdMs: 30_000,
};

/** The next action on the authority. `reason` is one line for the log. */
export type AuthorityStep =
  | { readonly action: "keep" /** Wall-clock time before which time alone changes nothing. */; readonly until: number }
  | { /** Create an authority that signs at once. */ readonly action: "create"; readonly reason: string }
  | {
      /** Create the next authority, which is trusted now and signs later. */ readonly action: "prepare";
      readonly reason: string;
    }
  | { /** Make the next authority current. */ readonly action: "promote"; readonly reason: string }
  | { /** Reject the paths of previous authorities. */ readonly action: "retire"; readonly reason: string };

/** Returns all certificates that a client must trust, the signing one first. */
export function trustedBy({ current, next, previous }: Authority): readonly Certificate[] {
  return [current.certificate, ...(next ? [next.certificate] : []), ...previous];
}

/** Returns all path tokens that the webhook accepts, that of the current authority first. */
export function tokensOf({ current, next, previousTokens }: Authority): readonly string[] {
  return [...new Set([tokenOf(current), ...(next ? [tokenOf(next)] : []), ...previousTokens])];
}

/** Reports whether a certificate has the name of an authority that Wave created. */
export function isAuthority(certificate: Certificate): boolean {
  return certificate.commonName.startsWith(namePrefix);
}

/** For how long this replica has seen something registered without interruption, in milliseconds; -1: not registered now. */
interface PublishedDurations {
  /** The next authority, in the caBundle. */
  readonly nextAuthorityMs: number;
  /** The path with the token of the current authority. */
  readonly pathMs: number;
}

/** Returns the action that is due. `now` is wall-clock time. */
export function planAuthority(
  authority: Authority | undefined,
  now: number,
  { nextAuthorityMs, pathMs }: PublishedDurations,
  lifetimes: Lifetimes,
): AuthorityStep {
  if (authority === undefined) return { action: "create", reason: "no authority yet" };
  const { current, next } = authority;
  const usable = current.certificate.notAfter > now;
  const nextUsable = next !== undefined && next.certificate.notAfter > now;
  if (nextUsable && !usable) return { action: "promote", reason: "the current authority has expired" };
  if (nextUsable && nextAuthorityMs >= lifetimes.overlapMs) {
    return { action: "promote", reason: "the next authority was published for long enough" };
  }
  if (!usable) return { action: "create", reason: "the current authority has expired" };
  const prepareAt = current.certificate.notAfter - lifetimes.authorityMs / 3;
  if (!nextUsable && now >= prepareAt) return { action: "prepare", reason: "the current authority expires soon" };
  if (authority.previousTokens.length > 0 && pathMs >= lifetimes.overlapMs) {
    return { action: "retire", reason: "the current path was registered for long enough" };
  }
  return { action: "keep", until: nextUsable ? current.certificate.notAfter : prepareAt };
}

/** Authorities and tokens that are known from other sources than the Secret. */
export interface KnownAuthorities {
  readonly certificates: readonly Certificate[];
  readonly tokens: readonly string[];
}

/**
 * Returns the authority after an action. `others` are trusted, served or registered now, but the Secret does not contain them,
 * for example after its deletion. Such certificates stay trusted until they expire, and such paths stay answered until another
 * path is registered.
 */
export function advanceAuthority(
  authority: Authority | undefined,
  action: "create" | "prepare" | "promote" | "retire",
  {
    now,
    others,
    lifetimes,
  }: { readonly now: number; readonly others: KnownAuthorities; readonly lifetimes: Lifetimes },
): Authority {
  const known = authority ? trustedBy(authority) : others.certificates;
  const valid = (authority?.previous ?? others.certificates).filter((certificate) => certificate.notAfter > now);
  const make = () => newAuthority(known, now, lifetimes);
  if (authority === undefined) {
    return { current: make(), next: undefined, previous: valid, previousTokens: [...new Set(others.tokens)] };
  }
  const { current, next, previousTokens } = authority;
  const replaced = next ? [current.certificate, next.certificate] : [current.certificate];
  switch (action) {
    case "create":
      // An expired authority stays trusted until the next change, because the clock of this replica may be wrong.
      return {
        current: make(),
        next: undefined,
        previous: [...replaced, ...valid],
        previousTokens: [tokenOf(current), ...previousTokens],
      };
    case "prepare":
      return { current, next: make(), previous: next ? [next.certificate, ...valid] : valid, previousTokens };
    case "promote":
      if (next === undefined) throw new Error("no next authority to promote");
      return {
        current: next,
        next: undefined,
        previous: [current.certificate, ...valid],
        previousTokens: [tokenOf(current), ...previousTokens],
      };
    case "retire":
      return { current, next, previous: valid, previousTokens: [] };
  }
}

const namePrefix = "wave webhook authority ";
const hour = 3_600_000;

/**
 * Creates an authority that is valid since the oldest known authority was created. A replica whose clock is ahead then creates
 * no authority that the API server's clock does not accept yet. The first authority is valid since an hour ago. Known
 * authorities expired recently at most, so the start moves with every renewal.
 */
function newAuthority(known: readonly Certificate[], now: number, { authorityMs }: Lifetimes): KeyPair {
  const notBefore = Math.min(now, ...known.map(({ notAfter }) => notAfter - authorityMs)) - hour;
  // With unique names a client finds the right issuer among several.
  return createAuthority(namePrefix + randomBytes(4).toString("hex"), { notBefore, notAfter: now + authorityMs });
}

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
export type AuthoritySecret = ReturnType<typeof authoritySecret>;

/** Returns access to the Secret of this name. Reads go to the API server, never to a cache. */
export function authoritySecret(client: ApiClient, name: SecretName) {
  const own = ownSecret(client, name, { type: "kubernetes.io/tls", flag: "webhook-service-name" });
  return {
    /**
     * Returns the stored authority; undefined if there is no Secret.
     * @throws Error with the next step if another program made the Secret or it is damaged; ApiError, ConnectionError.
     */
    async read(signal: AbortSignal): Promise<StoredAuthority | undefined> {
      const secret = await own.read(signal);
      return secret && { authority: decode(secret, own.description), secret };
    },
    /**
     * Replaces `before` with `authority`.
     * @throws ApiError 409 or 404 if the Secret has changed since it was read: another replica was first.
     */
    async write(before: StoredAuthority | undefined, authority: Authority, signal: AbortSignal) {
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
