import type { Lease, LeaseSpec } from "kubernetes-types/coordination/v1.d.ts";

/** The three durations of leader election, in milliseconds; client-go's names and defaults. */
export interface ElectionTimings {
  /** How long others leave a leader alone after they last saw its record change. */
  readonly leaseDurationMs: number;
  /** How long after it sent its last successful renewal a leader may still write. */
  readonly renewDeadlineMs: number;
  /** How often a leader renews; a standby looks twice as often, see {@link standbyPollMs}. */
  readonly retryPeriodMs: number;
}

/** client-go's defaults: 15 s, 10 s and 2 s. */
export const defaultElectionTimings: ElectionTimings = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
};

/**
 * Undefined for timings under which a leader ends before another may begin and has time for more than one attempt to
 * renew (client-go's conditions), else one line that names the flags to change.
 */
export function mistakeInTimings(timings: ElectionTimings): string | undefined {
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = timings;
  if (!(retryPeriodMs > 0)) return "--leader-election-retry-period must be longer than 0";
  if (!(renewDeadlineMs > 1.2 * retryPeriodMs)) {
    return `--leader-election-renew-deadline (${seconds(renewDeadlineMs)}) must be longer than 1.2 times --leader-election-retry-period (${seconds(retryPeriodMs)})`;
  }
  if (!(leaseDurationMs > renewDeadlineMs)) {
    return `--leader-election-lease-duration (${seconds(leaseDurationMs)}) must be longer than --leader-election-renew-deadline (${seconds(renewDeadlineMs)})`;
  }
  return undefined;
}

/**
 * How long a standby waits between two looks at the Lease: half the retry period, give or take a fifth. A released
 * Lease is so found within 0.6 retry periods: 1.2 s by default, of the 2 s that a hand-over may take.
 */
export function standbyPollMs(timings: ElectionTimings, random: () => number): number {
  return (timings.retryPeriodMs / 2) * (0.8 + 0.4 * random());
}

/** What this process last read of the Lease, and since when. Times are of its own monotonic clock, in milliseconds. */
export interface Observation {
  /** Undefined while there is no Lease. */
  readonly lease: Lease | undefined;
  /** When this state of the Lease was first seen. */
  readonly since: number;
  /** When this Lease, by its uid, was first seen. */
  readonly existsSince: number;
  /** How long this state is to be left alone from `since` on. */
  readonly durationMs: number;
  /** `leaseTransitions` of the Lease, kept through its absence; undefined where no Lease was ever seen. */
  readonly transitions: number | undefined;
}

/**
 * The observation after reading `lease` (undefined: there is none) at `now` by the monotonic clock. Any new
 * resourceVersion counts as a change: the timestamps in the record come from another machine's clock and judge nobody.
 */
export function observe(
  previous: Observation | undefined,
  lease: Lease | undefined,
  now: number,
  timings: ElectionTimings,
): Observation {
  const sameUid = previous !== undefined && previous.lease?.metadata?.uid === lease?.metadata?.uid;
  const same = sameUid && previous.lease?.metadata?.resourceVersion === lease?.metadata?.resourceVersion;
  const existsSince = sameUid ? previous.existsSince : now;
  if (lease === undefined) {
    if (same) return previous;
    // One that was there and was deleted is left to its leader to write again, which happens within a retry period.
    const durationMs = previous === undefined ? 0 : timings.retryPeriodMs;
    return { lease, since: now, existsSince, durationMs, transitions: previous?.transitions };
  }
  const { leaseDurationSeconds, leaseTransitions = 0 } = lease.spec ?? {};
  const durationMs = leaseDurationSeconds === undefined ? timings.leaseDurationMs : leaseDurationSeconds * 1_000;
  return { lease, since: same ? previous.since : now, existsSince, durationMs, transitions: leaseTransitions };
}

/**
 * What to do about the Lease now: write `spec` as a new Lease or over the one that was observed, and lead once it is held
 * for `claimMs`; or wait, because another holds it and may be writing for `ms` more milliseconds.
 */
export type LeaseStep =
  | { readonly do: "write"; readonly spec: LeaseSpec; readonly claimMs: number }
  | { readonly do: "wait"; readonly ms: number };

/** Who asks what to do, and when by both clocks of its process. */
export interface Candidate {
  readonly identity: string;
  /** To lead; to go on leading, by a term that is still valid; or to give up what it holds. */
  readonly aim: "take" | "renew" | "release";
  readonly monotonic: number;
  /** Only written into the record, for people to read; never compared with another's. */
  readonly wall: number;
}

/**
 * The rules of client-go's `tryAcquireOrRenew`, and one more: to delete the Lease does not stop its leader, so whoever
 * creates it, without leading already, has a claim only. It leads once this one Lease has existed for a lease duration:
 * nobody else can have renewed in that time.
 */
export function nextStep(observation: Observation, candidate: Candidate, timings: ElectionTimings): LeaseStep {
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

/** As client-go gives a Lease up: no holder, and one second for whoever judges by the duration alone. */
function releasedSpec(now: string, leaseTransitions = 0): LeaseSpec {
  return { holderIdentity: "", leaseDurationSeconds: 1, acquireTime: now, renewTime: now, leaseTransitions };
}

/** The identity of the holder, or "" where nobody holds it. */
export function holderOf(lease: Lease | undefined): string {
  return lease?.spec?.holderIdentity ?? "";
}

/**
 * A wall clock time as the API's MicroTime, different from `previous` even if the clock was set back: a write that
 * changes nothing leaves the resourceVersion as it is, and others would not see the renewal.
 */
function microTime(wall: number, previous: string | undefined): string {
  const time = new Date(wall).toISOString().replace("Z", "000Z");
  return time === previous ? time.replace("000Z", "001Z") : time;
}

function seconds(ms: number): string {
  return `${ms / 1_000}s`;
}
