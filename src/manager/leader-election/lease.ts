import type { Lease, LeaseSpec } from "#kubernetes";

/** The durations of leader election, in milliseconds, with the names of client-go. */
export interface ElectionTimings {
  /** How long other replicas wait after they last saw the record of the leader change. */
  readonly leaseDurationMs: number;
  /** How long a leader may write after it sent its last successful renewal. */
  readonly renewDeadlineMs: number;
  /** How often a leader renews. A standby reads twice as often, see {@link standbyPollMs}. */
  readonly retryPeriodMs: number;
}

/** The lease duration of client-go, in milliseconds. */
export const defaultLeaseDurationMs = 15_000;

/** Returns timings in the proportion of client-go's defaults: time for several renewals, and a leader stops before another may start. */
export function electionTimings(leaseDurationMs: number): ElectionTimings {
  return { leaseDurationMs, renewDeadlineMs: (leaseDurationMs * 2) / 3, retryPeriodMs: (leaseDurationMs * 2) / 15 };
}

/**
 * Returns the time between two reads of the Lease by a standby: half the retry period, plus or minus 20 %. A standby thus finds a
 * released Lease within 0.6 retry periods: by default 1.2 s of the 2 s that a handover may take.
 */
export function standbyPollMs(timings: ElectionTimings, random: () => number): number {
  return (timings.retryPeriodMs / 2) * (0.8 + 0.4 * random());
}

/** The last read of the Lease and its times, by the monotonic clock of this process, in milliseconds. */
export interface LeaseObservation {
  /** Undefined if there is no Lease. */
  readonly lease: Lease | undefined;
  /** Time of the first read of this state of the Lease. */
  readonly since: number;
  /** Time of the first read of this Lease, identified by its uid. */
  readonly existsSince: number;
  /** How long other replicas must wait, from `since` on. */
  readonly durationMs: number;
  /** `leaseTransitions` of the last Lease, also after its deletion; undefined if no Lease was ever read. */
  readonly transitions: number | undefined;
}

/**
 * Returns the observation after a read of `lease` (undefined: there is none) at `now` by the monotonic clock. Every new
 * resourceVersion is a change. The timestamps in the record come from the clock of another machine and are not compared.
 */
export function observeLease(
  previous: LeaseObservation | undefined,
  lease: Lease | undefined,
  now: number,
  timings: ElectionTimings,
): LeaseObservation {
  const sameUid = previous !== undefined && previous.lease?.metadata?.uid === lease?.metadata?.uid;
  const same = sameUid && previous.lease?.metadata?.resourceVersion === lease?.metadata?.resourceVersion;
  const existsSince = sameUid ? previous.existsSince : now;
  if (lease === undefined) {
    if (same) return previous;
    // After a deletion the leader writes the Lease again within a retry period, so others wait that long.
    const durationMs = previous === undefined ? 0 : timings.retryPeriodMs;
    return { lease, since: now, existsSince, durationMs, transitions: previous?.transitions };
  }
  const { leaseDurationSeconds, leaseTransitions = 0 } = lease.spec ?? {};
  const durationMs = leaseDurationSeconds === undefined ? timings.leaseDurationMs : leaseDurationSeconds * 1_000;
  return { lease, since: same ? previous.since : now, existsSince, durationMs, transitions: leaseTransitions };
}

/**
 * The next action on the Lease. `write`: create the Lease or replace the observed one with `spec`, and lead after it was held for
 * `claimMs`. `wait`: another replica holds the Lease and may write for `ms` more milliseconds.
 */
type LeaseStep =
  | { readonly do: "write"; readonly spec: LeaseSpec; readonly claimMs: number }
  | { readonly do: "wait"; readonly ms: number };

/** A time by both clocks of this process. */
export interface LeaseMoment {
  readonly monotonic: number;
  /** For people who read the record. Never compared with the time of another replica. */
  readonly wall: number;
}

/** A replica that takes part in the election, and the current time. */
export interface LeaseCandidate extends LeaseMoment {
  readonly identity: string;
  /** `acquire`: to become leader. `renew`: to stay leader while its leadership is valid. `release`: to give up the Lease. */
  readonly aim: "acquire" | "renew" | "release";
}

/**
 * Returns the next action, by the rules of client-go's `tryAcquireOrRenew` and one more. A deletion of the Lease does not stop its
 * leader, so a replica that creates the Lease, and does not lead yet, only claims it. It leads after this Lease has existed for a
 * lease duration, because no other replica can have renewed in that time.
 */
export function nextLeaseStep(
  observation: LeaseObservation,
  candidate: LeaseCandidate,
  timings: ElectionTimings,
): LeaseStep {
  const { lease, since, existsSince, durationMs, transitions } = observation;
  const { identity, aim, monotonic, wall } = candidate;
  const own = holderOf(lease) === identity;
  const leading = aim === "renew";
  const free = lease === undefined ? leading : own || holderOf(lease) === "";
  const remaining = Math.max(0, since + durationMs - monotonic);
  if (aim === "release" ? !own : !free && (leading || remaining > 0)) return { do: "wait", ms: remaining };

  const renewTime = microTime(wall, lease?.spec?.renewTime);
  if (aim === "release") return { do: "write", spec: releasedSpec(renewTime, transitions), claimMs: 0 };
  const keeps = own || (leading && lease === undefined);
  const spec: LeaseSpec = {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(timings.leaseDurationMs / 1_000),
    acquireTime: (own ? lease?.spec?.acquireTime : undefined) ?? renewTime,
    renewTime,
    leaseTransitions: transitions === undefined ? 0 : keeps ? transitions : transitions + 1,
  };
  const existedMs = lease === undefined ? 0 : monotonic - existsSince;
  const claimMs = leading || (lease !== undefined && !own) ? 0 : Math.max(0, timings.leaseDurationMs - existedMs);
  return { do: "write", spec, claimMs };
}

/** Returns the record of a released Lease, as client-go writes it: no holder, and a duration of one second. */
function releasedSpec(now: string, leaseTransitions = 0): LeaseSpec {
  return { holderIdentity: "", leaseDurationSeconds: 1, acquireTime: now, renewTime: now, leaseTransitions };
}

/** Returns the identity of the holder; "" if the Lease has no holder. */
export function holderOf(lease: Lease | undefined): string {
  return lease?.spec?.holderIdentity ?? "";
}

/**
 * Formats a wall-clock time as MicroTime. The result differs from `previous` even if the clock was set back: a write without a change
 * keeps the resourceVersion, and others would not see the renewal.
 */
function microTime(wall: number, previous: string | undefined): string {
  const time = new Date(wall).toISOString().replace("Z", "000Z");
  return time === previous ? time.replace("000Z", "001Z") : time;
}
