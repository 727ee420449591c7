/** How the API server meets the webhook. */
export interface Served {
  /** PEM; may be followed by its chain. */
  readonly certificate: string;
  readonly key: string;
  /** In the paths that are answered, at least one. */
  readonly tokens: readonly string[];
}

/** Serves so from now on; the first call begins to listen. Rejects where it is broken or nobody can listen. */
export type Serve = (served: Served) => Promise<void>;

/** Where the webhook's certificate comes from: Wave's own authority, or files. */
export interface CertificateSource {
  /**
   * Looks once and puts right what is wrong: calls `serve` with the certificate and the paths as soon as they are known, also
   * where they are still the same, and makes the API server trust and call it. Returns the milliseconds until time alone makes
   * another step useful.
   *
   * Throws where something stands in the way, an Error of one line that says what; the caller tries again.
   */
  step(signal: AbortSignal, serve: Serve): Promise<number>;
}
