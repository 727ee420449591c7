import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import {
  type Authority,
  type AuthorityStep,
  advanceAuthority,
  isAuthority,
  type Lifetimes,
  type Others,
  planAuthority,
  tokensOf,
  trustedBy,
} from "./authority.ts";
import type { AuthoritySecret } from "./authority-secret.ts";
import type { CertificateSource } from "./certificate-source.ts";
import { issueServingCertificate } from "./certificates.ts";
import { tokenOf } from "./path-token.ts";
import type { Certificate, KeyPair } from "./pem.ts";
import { Publication } from "./publication.ts";
import type { Registered, Registration } from "./registration.ts";

/** What Wave's own certificates need. */
export interface OwnCertificatesOptions {
  readonly secret: AuthoritySecret;
  readonly registration: Registration;
  /** The DNS names and IP addresses under which the API server calls. */
  readonly hosts: readonly string[];
  readonly lifetimes: Lifetimes;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The certificate that is served and what became of it. */
interface Serving {
  readonly pair: KeyPair;
  readonly issuer: Certificate;
  /** Wall clock. */
  readonly renewAt: number;
}

/**
 * Serving certificates by an authority of Wave's own, which all replicas share through a Secret and whose certificates
 * are kept in the caBundle of the registration, and its path with them.
 *
 * One step reads the registration first and the Secret after it, and every write fails where its object has changed
 * since: so what is published never goes back to an older state of the Secret.
 */
export function ownCertificates(options: OwnCertificatesOptions): CertificateSource {
  const { secret, registration, hosts, lifetimes, clock, log } = options;
  const publication = new Publication(clock);
  /** The authorities and paths that this replica has known last, in case that the Secret is deleted. */
  let known: Others = { certificates: [], tokens: [] };
  let serving: Serving | undefined;
  /** The token of the path that was registered when last looked, had it one. */
  let called: string | undefined;

  function plan(authority: Authority | undefined, now: number): AuthorityStep {
    const seen = {
      nextMs: publication.msOf(authority?.next?.certificate),
      pathMs: authority ? publication.msOfPath(tokenOf(authority.current)) : -1,
    };
    return planAuthority(authority, now, seen, lifetimes);
  }

  async function keepAuthority(registered: Registered | undefined, signal: AbortSignal): Promise<Authority> {
    const stored = await secret.read(signal);
    const now = clock.wall();
    const step = plan(stored?.authority, now);
    let authority = stored?.authority;
    if (authority === undefined || step.action !== "keep") {
      const action = step.action === "keep" ? "create" : step.action;
      const others = {
        certificates: [...known.certificates, ...(registered?.trusted ?? []).filter(isAuthority)],
        // What is registered first: it is the one that API servers call by.
        tokens: [...(registered?.token === undefined ? [] : [registered.token]), ...known.tokens],
      };
      authority = advanceAuthority(authority, action, { now, others, lifetimes });
      await secret.write(stored, authority, signal);
      log.info("wrote the webhook's certificate authority", {
        action,
        ...(step.action === "keep" ? {} : { reason: step.reason }),
      });
    }
    known = { certificates: trustedBy(authority), tokens: tokensOf(authority) };
    return authority;
  }

  /** Issues a serving certificate where one is needed and its authority may be used; else leaves things as they are. */
  function keepServing({ current }: Authority, registered: Registered | undefined): void {
    const now = clock.wall();
    if (serving !== undefined && now < serving.pair.certificate.notAfter) {
      const sameIssuer = serving.issuer.fingerprint === current.certificate.fingerprint;
      if (sameIssuer && now < serving.renewAt) return;
      const mayChange = registered === undefined || publication.msOf(current.certificate) >= lifetimes.holdMs;
      if (!sameIssuer && !mayChange) return;
    }
    const notAfter = Math.min(now + lifetimes.servingMs, current.certificate.notAfter);
    // From before now, for clients whose clocks are behind this one; short all the same, as certificates should be.
    const notBefore = Math.max(current.certificate.notBefore, notAfter - 3 * lifetimes.servingMs);
    const pair = issueServingCertificate(current, hosts, { notBefore, notAfter });
    serving = { pair, issuer: current.certificate, renewAt: now + ((notAfter - now) * 2) / 3 };
    log.info("issued a serving certificate for the webhook", { until: new Date(notAfter).toISOString() });
  }

  /**
   * The path to be registered: one that every replica answers. A new one waits until its authority was seen published,
   * as a certificate by it does: then each has read the Secret. Where somebody reset the path, API servers call in vain
   * until it is put right, by one that is known already.
   */
  function tokenToRegister({ current, previousTokens }: Authority, registered: Registered | undefined): string {
    const token = tokenOf(current);
    if (publication.msOf(current.certificate) >= lifetimes.holdMs) return token;
    const answered = [token, ...previousTokens];
    const before = [registered?.token, called].find((known) => known !== undefined && answered.includes(known));
    return before ?? previousTokens[0] ?? token;
  }

  /** Milliseconds until time alone asks for something. */
  function dueIn(authority: Authority): number {
    const now = clock.wall();
    const { current, next, previousTokens } = authority;
    const step = plan(authority, now);
    const times = [step.action === "keep" ? step.until - now : 0];
    if (next) times.push(lifetimes.overlapMs - publication.msOf(next.certificate));
    if (previousTokens.length > 0) {
      const called = publication.msOfPath(tokenOf(current));
      const published = publication.msOf(current.certificate);
      if (called >= 0) times.push(lifetimes.overlapMs - called);
      else if (published >= 0) times.push(lifetimes.holdMs - published);
    }
    if (serving?.issuer.fingerprint === current.certificate.fingerprint) times.push(serving.renewAt - now);
    // It waits until it may change to the current authority, or must.
    else if (serving) {
      const { notAfter } = serving.pair.certificate;
      times.push(Math.min(lifetimes.holdMs - publication.msOf(current.certificate), notAfter - now));
    }
    return Math.max(0, Math.min(...times));
  }

  return {
    async step(signal, serve) {
      const before = await registration.read(signal);
      publication.observe(before);
      called = before?.token ?? called;
      const authority = await keepAuthority(before, signal);
      keepServing(authority, before);
      const { certificate, key } = serving?.pair ?? {};
      const tokens = tokensOf(authority);
      if (certificate !== undefined && key !== undefined) await serve({ certificate: certificate.pem, key, tokens });
      const publishing = { trusted: trustedBy(authority), token: tokenToRegister(authority, before) };
      publication.observe(await registration.publish(before, publishing, signal));
      return dueIn(authority);
    },
  };
}
