/** Certificate, key and paths with which the webhook serves. */
export interface ServingConfig {
  /** PEM. The chain may follow. */
  readonly certificate: string;
  readonly key: string;
  /** Tokens of the accepted paths, at least one. */
  readonly tokens: readonly string[];
}

/** Starts to serve with this configuration; the first call starts to listen. Rejects if the certificate is broken or listening fails. */
export type Serve = (served: ServingConfig) => Promise<void>;

/** The source of the webhook's certificate: Wave's own authority, or files. */
export interface CertificateSource {
  /**
   * Brings certificates and registration to the desired state once. Calls `serve` with the certificate and the paths as soon as
   * they are known, even if they are unchanged, and makes the API server trust and call them. Returns the milliseconds after
   * which another call is due although nothing has changed.
   * @throws Error of one line; the caller retries.
   */
  reconcile(signal: AbortSignal, serve: Serve): Promise<number>;
}
