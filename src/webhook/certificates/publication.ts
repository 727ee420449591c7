import type { Clock } from "../../lib/clock.ts";
import type { Certificate } from "./pem.ts";
import type { Registered } from "./registration.ts";

/**
 * For how long the certificates that the API server trusts, and the path by which it calls, have been registered as this
 * replica sees it, by the clock that never jumps.
 */
export class Publication {
  readonly #clock: Clock;
  #since = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes note of what is registered now; what is not among it must be seen anew. Undefined: nothing is. */
  observe(registered: Registered | undefined): void {
    const now = this.#clock.monotonic();
    const { trusted = [], token } = registered ?? {};
    const seen = [...trusted.map(({ fingerprint }) => fingerprint), ...(token === undefined ? [] : [token])];
    this.#since = new Map(seen.map((identity) => [identity, this.#since.get(identity) ?? now]));
  }

  /** Milliseconds since the certificate was first seen, without a break; -1 where it was not there when last looked. */
  msOf(certificate: Certificate | undefined): number {
    return this.#msOf(certificate?.fingerprint);
  }

  /** The same of the path with this token. */
  msOfPath(token: string): number {
    return this.#msOf(token);
  }

  #msOf(identity: string | undefined): number {
    const since = identity === undefined ? undefined : this.#since.get(identity);
    return since === undefined ? -1 : this.#clock.monotonic() - since;
  }
}
