import { randomBytes } from "node:crypto";
import { createAuthority } from "./certificates.ts";
import { tokenOf } from "./path-token.ts";
import type { Certificate, KeyPair } from "./pem.ts";

/**
 * The certificate authority that all replicas share, and when it changes; the secret path of the webhook follows from it.
 * Why this never breaks a TLS handshake nor refuses a path that is registered: docs/adr/0005-webhook-certificates.md.
 */

/** Signs now; will sign next; and those that no longer sign but are still trusted. */
export interface Authority {
  /** Issues the serving certificates. */
  readonly current: KeyPair;
  /** Trusted already, to become current later; undefined most of the time. */
  readonly next: KeyPair | undefined;
  /** Their keys are gone; what they issued may still be served. */
  readonly previous: readonly Certificate[];
  /** The path tokens of such, by which API servers may still call; the one registered last first. */
  readonly previousTokens: readonly string[];
}

/** How long things last, in milliseconds. Certificates know whole seconds only. */
export interface Lifetimes {
  /** Of an authority; its successor is prepared when a third of it is left. */
  readonly authorityMs: number;
  /** Of a serving certificate; it is renewed when a third of it is left. */
  readonly servingMs: number;
  /**
   * How long a replica must have seen the next authority published before it makes it the current one, and the path of
   * the current one before it refuses those before it.
   */
  readonly overlapMs: number;
  /**
   * How long a replica that serves well must have seen another authority published before it serves by that one, and
   * registers its path: longer than API servers need to learn of a change, and other replicas.
   */
  readonly holdMs: number;
}

/** What Wave uses: a year, 30 days, an hour, 30 seconds. */
export const defaultLifetimes: Lifetimes = {
  authorityMs: 365 * 86_400_000,
  servingMs: 30 * 86_400_000,
  overlapMs: 3_600_000,
  holdMs: 30_000,
};

/** What to do about the authority. Every reason is one line for the log. */
export type AuthorityStep =
  | { readonly action: "keep" /** Wall clock: nothing changes by time alone before. */; readonly until: number }
  | { /** A new one signs at once. */ readonly action: "create"; readonly reason: string }
  | { /** A new one is trusted from now on and signs later. */ readonly action: "prepare"; readonly reason: string }
  | { /** The next one signs from now on. */ readonly action: "promote"; readonly reason: string }
  | { /** Paths of those before are refused from now on. */ readonly action: "retire"; readonly reason: string };

/** Every certificate that a client must trust, the one that signs first. */
export function trustedBy({ current, next, previous }: Authority): readonly Certificate[] {
  return [current.certificate, ...(next ? [next.certificate] : []), ...previous];
}

/** Every path token by which the webhook may be called, that of the current authority first. */
export function tokensOf({ current, next, previousTokens }: Authority): readonly string[] {
  return [...new Set([tokenOf(current), ...(next ? [tokenOf(next)] : []), ...previousTokens])];
}

/** Whether a certificate is one of Wave's own authorities, by its name. */
export function isAuthority(certificate: Certificate): boolean {
  return certificate.commonName.startsWith(namePrefix);
}

/** For how long a replica has seen something registered without a break, in milliseconds; -1: it does not see it now. */
export interface Seen {
  /** The next authority, among those that the API server trusts. */
  readonly nextMs: number;
  /** The path of the current authority. */
  readonly pathMs: number;
}

/** What the clock asks for. `now` is the wall clock. */
export function planAuthority(
  authority: Authority | undefined,
  now: number,
  { nextMs, pathMs }: Seen,
  lifetimes: Lifetimes,
): AuthorityStep {
  if (authority === undefined) return { action: "create", reason: "there is none yet" };
  const { current, next } = authority;
  const usable = current.certificate.notAfter > now;
  const nextUsable = next !== undefined && next.certificate.notAfter > now;
  if (nextUsable && !usable) return { action: "promote", reason: "the current one has expired" };
  if (nextUsable && nextMs >= lifetimes.overlapMs) {
    return { action: "promote", reason: "it has been trusted for long enough" };
  }
  if (!usable) return { action: "create", reason: "the current one has expired" };
  const prepareAt = current.certificate.notAfter - lifetimes.authorityMs / 3;
  if (!nextUsable && now >= prepareAt) return { action: "prepare", reason: "the current one expires soon" };
  if (authority.previousTokens.length > 0 && pathMs >= lifetimes.overlapMs) {
    return { action: "retire", reason: "the API server calls by another path" };
  }
  return { action: "keep", until: nextUsable ? current.certificate.notAfter : prepareAt };
}

/** What is known of authorities besides the Secret. */
export interface Others {
  readonly certificates: readonly Certificate[];
  readonly tokens: readonly string[];
}

/**
 * The authority after a step. `others` are trusted, served or registered now although the Secret does not name them, as
 * after its deletion: certificates stay trusted until they expire, and paths answered until another one is registered.
 */
export function advanceAuthority(
  authority: Authority | undefined,
  action: "create" | "prepare" | "promote" | "retire",
  { now, others, lifetimes }: { readonly now: number; readonly others: Others; readonly lifetimes: Lifetimes },
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
      // What has expired by this clock stays trusted until the next change: this clock may be the one that is wrong.
      return {
        current: make(),
        next: undefined,
        previous: [...replaced, ...valid],
        previousTokens: [tokenOf(current), ...previousTokens],
      };
    case "prepare":
      return { current, next: make(), previous: next ? [next.certificate, ...valid] : valid, previousTokens };
    case "promote":
      if (next === undefined) throw new Error("there is no next authority to promote");
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
 * Valid from when the oldest one known was made, so that a replica whose clock is ahead makes none that the API server's
 * clock does not accept yet; the first one from an hour ago. What is known has not expired for long, so this moves with
 * every renewal.
 */
function newAuthority(known: readonly Certificate[], now: number, { authorityMs }: Lifetimes): KeyPair {
  const notBefore = Math.min(now, ...known.map(({ notAfter }) => notAfter - authorityMs)) - hour;
  // A name of its own lets a client find the right issuer among several.
  return createAuthority(namePrefix + randomBytes(4).toString("hex"), { notBefore, notAfter: now + authorityMs });
}
