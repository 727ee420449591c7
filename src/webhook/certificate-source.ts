import type { ServedCertificate } from "./server.ts";

/** Shows a certificate from now on; the first call begins to listen. Rejects where it is broken or nobody can listen. */
export type Serve = (served: ServedCertificate) => Promise<void>;

/** Where the webhook's certificate comes from: Wave's own authority, or files. */
export interface CertificateSource {
  /**
   * Looks once and puts right what is wrong: calls `serve` with the certificate to show as soon as it is known, also
   * where it is still the same, and makes the API server trust it. Returns the milliseconds until time alone makes
   * another step useful.
   *
   * Throws where something stands in the way, an Error of one line that says what; the caller tries again.
   */
  step(signal: AbortSignal, serve: Serve): Promise<number>;
}
