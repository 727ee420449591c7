import type { Clock } from "../lib/clock.ts";
import type { Certificate } from "./pem.ts";

/** For how long certificates have been seen among those that the API server trusts, by the clock that never jumps. */
export class Publication {
  readonly #clock: Clock;
  #since = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes note of what is trusted now; what is not among it must be seen anew. Undefined: nothing is. */
  observe(trusted: readonly Certificate[] = []): void {
    const now = this.#clock.monotonic();
    this.#since = new Map(trusted.map(({ fingerprint }) => [fingerprint, this.#since.get(fingerprint) ?? now]));
  }

  /** Milliseconds since the certificate was first seen, without a break; -1 where it was not there when last looked. */
  msOf(certificate: Certificate | undefined): number {
    const since = certificate && this.#since.get(certificate.fingerprint);
    return since === undefined ? -1 : this.#clock.monotonic() - since;
  }
}
