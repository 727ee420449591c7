import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../telemetry/log.ts";
import {
  type Authority,
  advanceAuthority,
  isAuthority,
  type Lifetimes,
  planAuthority,
  trustedBy,
} from "./authority.ts";
import type { AuthoritySecret } from "./authority-secret.ts";
import type { CertificateSource } from "./certificate-source.ts";
import { issueServingCertificate } from "./certificates.ts";
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
 * are kept in the caBundle of the registration.
 *
 * One step reads the registration first and the Secret after it, and every write fails where its object has changed
 * since: so what is published never goes back to an older state of the Secret.
 */
export function ownCertificates(options: OwnCertificatesOptions): CertificateSource {
  const { secret, registration, hosts, lifetimes, clock, log } = options;
  const publication = new Publication(clock);
  /** The authorities that this replica has known, in case that the Secret is deleted. */
  let known: readonly Certificate[] = [];
  let serving: Serving | undefined;

  async function keepAuthority(registered: Registered | undefined, signal: AbortSignal): Promise<Authority> {
    const stored = await secret.read(signal);
    const now = clock.wall();
    const step = planAuthority(
      stored?.authority,
      now,
      publication.msOf(stored?.authority.next?.certificate),
      lifetimes,
    );
    let authority = stored?.authority;
    if (authority === undefined || step.action !== "keep") {
      const action = step.action === "keep" ? "create" : step.action;
      const others = [...known, ...(registered?.trusted ?? []).filter(isAuthority)];
      authority = advanceAuthority(authority, action, { now, others, lifetimes });
      await secret.write(stored, authority, signal);
      log.info("wrote the webhook's certificate authority", {
        action,
        ...(step.action === "keep" ? {} : { reason: step.reason }),
      });
    }
    known = trustedBy(authority);
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
    const { notBefore, notAfter: end } = current.certificate;
    const notAfter = Math.min(now + lifetimes.servingMs, end);
    const pair = issueServingCertificate(current, hosts, { notBefore, notAfter });
    serving = { pair, issuer: current.certificate, renewAt: now + ((notAfter - now) * 2) / 3 };
    log.info("issued a serving certificate for the webhook", { until: new Date(notAfter).toISOString() });
  }

  /** Milliseconds until time alone asks for something. */
  function dueIn(authority: Authority): number {
    const now = clock.wall();
    const { current, next } = authority;
    const step = planAuthority(authority, now, publication.msOf(next?.certificate), lifetimes);
    const times = [step.action === "keep" ? step.until - now : 0];
    if (next) times.push(lifetimes.overlapMs - publication.msOf(next.certificate));
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
      publication.observe(before?.trusted);
      const authority = await keepAuthority(before, signal);
      keepServing(authority, before);
      if (serving) await serve({ certificate: serving.pair.certificate.pem, key: serving.pair.key });
      const after = await registration.publish(before, trustedBy(authority), signal);
      publication.observe(after?.trusted);
      return dueIn(authority);
    },
  };
}
