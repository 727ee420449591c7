// Certificates and registration of the webhook: authority, serving certificates, secret path. Knows kube, not reviews.
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import {
  type Authority,
  type AuthoritySecret,
  type AuthorityStep,
  advanceAuthority,
  isAuthority,
  type KnownAuthorities,
  type Lifetimes,
  planAuthority,
  tokensOf,
  trustedBy,
} from "./authority.ts";
import type { CertificateSource } from "./certificate-loop.ts";
import { issueServingCertificate } from "./certificates.ts";
import { tokenOf } from "./path-token.ts";
import type { Certificate, KeyPair } from "./pem.ts";
import type { Registration, RegistrationState } from "./registration.ts";

interface Serving {
  readonly pair: KeyPair;
  readonly issuer: Certificate;
  /** Wall-clock time. */
  readonly renewAt: number;
}

/**
 * Returns serving certificates of Wave's own authority. All replicas share the authority through a Secret. Wave writes its
 * certificates into the caBundle of the registration, together with the path.
 *
 * One reconcile reads the registration first and then the Secret. Every write fails if its object has changed since the read.
 * Thus a published state never returns to an older state of the Secret.
 */
export function ownCertificates(options: {
  readonly secret: AuthoritySecret;
  readonly registration: Registration;
  /** DNS names and IP addresses at which the API server calls the webhook. */
  readonly hosts: readonly string[];
  readonly lifetimes: Lifetimes;
  readonly clock: Clock;
  readonly log: Logger;
}): CertificateSource {
  const { secret, registration, hosts, lifetimes, clock, log } = options;
  const published = new PublicationTimes(clock);
  /** The authorities and tokens that this replica used last, for the case that the Secret is deleted. */
  let known: KnownAuthorities = { certificates: [], tokens: [] };
  let serving: Serving | undefined;
  /** The token of the registered path at the last read that found one. */
  let registeredToken: string | undefined;

  function plan(authority: Authority | undefined, now: number): AuthorityStep {
    const seen = {
      nextAuthorityMs: published.ms(authority?.next?.certificate.fingerprint),
      pathMs: published.ms(authority && tokenOf(authority.current)),
    };
    return planAuthority(authority, now, seen, lifetimes);
  }

  async function reconcileAuthority(
    registered: RegistrationState | undefined,
    signal: AbortSignal,
  ): Promise<Authority> {
    const stored = await secret.read(signal);
    const now = clock.wall();
    const step = plan(stored?.authority, now);
    let authority = stored?.authority;
    if (authority === undefined || step.action !== "keep") {
      const action = step.action === "keep" ? "create" : step.action;
      const others = {
        certificates: [...known.certificates, ...(registered?.trusted ?? []).filter(isAuthority)],
        // The registered token first: API servers use it.
        tokens: [...(registered?.token === undefined ? [] : [registered.token]), ...known.tokens],
      };
      authority = advanceAuthority(authority, action, { now, others, lifetimes });
      await secret.write(stored, authority, signal);
      log.info("updated the webhook's certificate authority", {
        action,
        ...(step.action === "keep" ? {} : { reason: step.reason }),
      });
    }
    known = { certificates: trustedBy(authority), tokens: tokensOf(authority) };
    return authority;
  }

  /** Issues a serving certificate if one is due and its authority may already be used. */
  function renewServing({ current }: Authority, registered: RegistrationState | undefined): void {
    const now = clock.wall();
    if (serving !== undefined && now < serving.pair.certificate.notAfter) {
      const sameIssuer = serving.issuer.fingerprint === current.certificate.fingerprint;
      if (sameIssuer && now < serving.renewAt) return;
      const mayChange = registered === undefined || published.ms(current.certificate.fingerprint) >= lifetimes.holdMs;
      if (!sameIssuer && !mayChange) return;
    }
    const notAfter = Math.min(now + lifetimes.servingMs, current.certificate.notAfter);
    // The start is in the past for clients whose clocks are behind. The validity stays short.
    const notBefore = Math.max(current.certificate.notBefore, notAfter - 3 * lifetimes.servingMs);
    const pair = issueServingCertificate(current, hosts, { notBefore, notAfter });
    serving = { pair, issuer: current.certificate, renewAt: now + ((notAfter - now) * 2) / 3 };
    log.info("issued a serving certificate for the webhook", { until: new Date(notAfter).toISOString() });
  }

  /**
   * Returns the token of the path to register, which every replica must answer. A new path waits, like a new certificate, until
   * its authority was published long enough that each replica has read the Secret. If another client reset the path, the calls of
   * API servers fail until it is corrected, so a known token is registered at once.
   */
  function tokenToRegister({ current, previousTokens }: Authority, registered: RegistrationState | undefined): string {
    const token = tokenOf(current);
    if (published.ms(current.certificate.fingerprint) >= lifetimes.holdMs) return token;
    const answered = [token, ...previousTokens];
    const before = [registered?.token, registeredToken].find(
      (token) => token !== undefined && answered.includes(token),
    );
    return before ?? previousTokens[0] ?? token;
  }

  /** Returns the milliseconds until the next action is due by time alone. */
  function dueIn(authority: Authority): number {
    const now = clock.wall();
    const { current, next, previousTokens } = authority;
    const step = plan(authority, now);
    const times = [step.action === "keep" ? step.until - now : 0];
    if (next) times.push(lifetimes.overlapMs - published.ms(next.certificate.fingerprint));
    if (previousTokens.length > 0) {
      const pathMs = published.ms(tokenOf(current));
      const certificateMs = published.ms(current.certificate.fingerprint);
      if (pathMs >= 0) times.push(lifetimes.overlapMs - pathMs);
      else if (certificateMs >= 0) times.push(lifetimes.holdMs - certificateMs);
    }
    if (serving?.issuer.fingerprint === current.certificate.fingerprint) times.push(serving.renewAt - now);
    // The next change of issuer: when it is allowed, or when the certificate expires.
    else if (serving) {
      const { notAfter } = serving.pair.certificate;
      times.push(Math.min(lifetimes.holdMs - published.ms(current.certificate.fingerprint), notAfter - now));
    }
    return Math.max(0, Math.min(...times));
  }

  return {
    async reconcile(signal, serve) {
      const before = await registration.read(signal);
      published.observe(before);
      registeredToken = before?.token ?? registeredToken;
      const authority = await reconcileAuthority(before, signal);
      renewServing(authority, before);
      const { certificate, key } = serving?.pair ?? {};
      const tokens = tokensOf(authority);
      if (certificate !== undefined && key !== undefined) await serve({ certificate: certificate.pem, key, tokens });
      const desired = { trusted: trustedBy(authority), token: tokenToRegister(authority, before) };
      published.observe(await registration.publish(before, desired, signal));
      return dueIn(authority);
    },
  };
}

/** Tracks for how long this replica has seen each certificate in the caBundle and each path in the registration. */
class PublicationTimes {
  readonly #clock: Clock;
  #since = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records the current registration; undefined: there is none. The time of an entry that is missing starts again later. */
  observe(registered: RegistrationState | undefined): void {
    const now = this.#clock.monotonic();
    const { trusted = [], token } = registered ?? {};
    const seen = [...trusted.map(({ fingerprint }) => fingerprint), ...(token === undefined ? [] : [token])];
    this.#since = new Map(seen.map((identity) => [identity, this.#since.get(identity) ?? now]));
  }

  /**
   * Returns for how long a certificate, by its fingerprint, or the path with a token was seen without interruption, in milliseconds;
   * -1 if the last read did not show it.
   */
  ms(identity: string | undefined): number {
    const since = identity === undefined ? undefined : this.#since.get(identity);
    return since === undefined ? -1 : this.#clock.monotonic() - since;
  }
}
