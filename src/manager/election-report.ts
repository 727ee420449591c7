import type { EventRecorder } from "../kube/event-recorder.ts";
import { resources } from "../kube/resources.ts";
import { errorText } from "../telemetry/error-text.ts";
import type { Logger } from "../telemetry/log.ts";
import type { MetricsRegistry } from "../telemetry/metrics.ts";
import { holderOf } from "./lease.ts";
import type { LeaseApi } from "./lease-api.ts";
import type { LeaseLock } from "./lease-lock.ts";

/** Tells people how the election goes: log, metrics, and an Event on the Lease. */
export interface ElectionReport {
  /**
   * A request got through: says who leads if that is somebody new, and that the API server answers again. `claimMs` is
   * for how long this process, if it holds the Lease, must still hold it before it leads; 0 where it leads now.
   */
  readonly reached: (claimMs?: number) => void;
  /** A request failed: says so once, until one gets through or the reason is another. */
  readonly failed: (what: string, error: unknown) => void;
  /** This process leads now. */
  readonly began: () => void;
  /** The Lease could not be given up, which is not tried again. */
  readonly notReleased: (error: unknown) => void;
  /** This process has lost its term, because of `reason`. */
  readonly lost: (reason: unknown) => void;
  /** This process has given the Lease up. */
  readonly released: () => void;
}

/** `leading` says whether this process leads, at the moment of asking. */
export function createElectionReport(options: {
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  readonly recorder?: EventRecorder;
  readonly identity: string;
  readonly api: Pick<LeaseApi, "description">;
  readonly lock: Pick<LeaseLock, "observation">;
  readonly leading: () => boolean;
}): ElectionReport {
  const { log, metrics, recorder, identity, api, lock, leading } = options;
  const lease = api.description;
  let reportedHolder: string | undefined;
  let reportedFailure: string | undefined;

  const leader = metrics.gauge("wave_leader", "1 while this replica leads and rolls workloads, 0 while it stands by.");
  leader.collect(() => leader.set(leading() ? 1 : 0));
  const transitions = metrics.gauge(
    "wave_leader_transitions",
    "How often the Lease has passed to another replica: its leaseTransitions, as this replica last read them.",
  );
  transitions.collect(() => transitions.set(lock.observation()?.transitions ?? 0));

  const reportHolder = (claimMs: number) => {
    const observation = lock.observation();
    if (observation === undefined) return;
    const holder = holderOf(observation.lease);
    if (holder === reportedHolder) return;
    // That it leads is said where the term begins.
    if (holder === identity && claimMs === 0) return;
    reportedHolder = holder;
    if (observation.lease === undefined) log.info("there is no Lease", { lease });
    else if (holder === identity) {
      const seconds = Math.ceil(claimMs / 1_000).toString();
      log.info("this replica holds the Lease, and leads when it has existed for its duration", { lease, seconds });
    } else if (holder === "") log.info("nobody leads: the Lease is free", { lease });
    else log.info("another replica leads", { lease, leader: holder });
  };

  return {
    reached: (claimMs = 0) => {
      if (reportedFailure !== undefined) log.info("the Lease can be reached again", { lease });
      reportedFailure = undefined;
      reportHolder(claimMs);
    },
    failed: (what, error) => {
      const text = errorText(error);
      if (text === reportedFailure) return;
      reportedFailure = text;
      log.warn(`cannot ${what} the Lease; trying again`, { lease, error: text });
    },
    began: () => {
      reportedHolder = identity;
      log.info("this replica leads", { lease, leader: identity });
      const metadata = lock.observation()?.lease?.metadata;
      if (recorder === undefined || metadata?.uid === undefined) return;
      const { apiVersion, kind } = resources.leases;
      const { uid, namespace = "", name = "" } = metadata;
      void recorder.record({
        regarding: { apiVersion, kind, namespace, name, uid },
        type: "Normal",
        reason: "LeaderElection",
        message: `${identity} became leader`,
      });
    },
    lost: (reason) => {
      reportedHolder = undefined;
      log.warn("this replica no longer leads", { lease, leader: identity, reason: errorText(reason) });
    },
    notReleased: (error) => {
      const message = "the Lease could not be released; another replica takes it when it has run out";
      log.warn(message, { lease, error: errorText(error) });
    },
    released: () => {
      reportedHolder = "";
      log.info("this replica has released the Lease", { lease });
    },
  };
}
