import type { Clock } from "../../lib/clock.ts";
import type { Certificate } from "./pem.ts";
import type { RegistrationState } from "./registration.ts";

/**
 * Tracks for how long this replica has seen each certificate in the caBundle and each path in the registration, by the monotonic
 * clock.
 */
export class PublicationTimes {
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

  /** Returns for how long the certificate was seen without interruption, in milliseconds; -1 if the last read did not show it. */
  certificateMs(certificate: Certificate | undefined): number {
    return this.#msOf(certificate?.fingerprint);
  }

  /** Returns the same for the path with this token. */
  pathMs(token: string): number {
    return this.#msOf(token);
  }

  #msOf(identity: string | undefined): number {
    const since = identity === undefined ? undefined : this.#since.get(identity);
    return since === undefined ? -1 : this.#clock.monotonic() - since;
  }
}
