// Leader election by a Lease, with the rules of client-go. Knows kube and runtime, not the work of the leader.
import { randomUUID } from "node:crypto";
import { resources } from "../../kube/api/resources.ts";
import type { ObjectEvent } from "../../kube/events/event-object.ts";
import type { EventRecorder } from "../../kube/events/event-recorder.ts";
import { type Clock, sleep } from "../../lib/clock.ts";
import type { Leadership } from "../../runtime/write-permits.ts";
import { clusterMetrics } from "../../telemetry/catalogue/cluster.ts";
import { errorText, logMessages } from "../../telemetry/logging/log-messages.ts";
import type { ProcessContext } from "../../telemetry/process-context.ts";
import { holderOf, type LeaseMoment, standbyPollMs } from "./lease.ts";
import { createLeaseLock, type HeldLeadership, holdLeadership, type LeaseLockOptions } from "./lease-lock.ts";

type LeaderWork = (leadership: Leadership) => Promise<void>;

/** Leader election in one process. */
export type LeaderElector = ReturnType<typeof createLeaderElector>;

/** Returns the host name with a random suffix, as is usual with client-go. A restarted process has a new identity. */
export function electionIdentity(hostname: string): string {
  return `${hostname}_${randomUUID()}`;
}

/** Creates a leader elector; contributing/adr/0006-leader-election.md has the rules and reasons. */
export function createLeaderElector(
  options: LeaseLockOptions &
    Pick<ProcessContext, "log" | "metrics"> & {
      /** Writes "… became leader" on the Lease, as client-go does. */
      readonly recorder?: EventRecorder;
      readonly random?: () => number;
    },
) {
  const { clock, log, metrics, identity, recorder, random = Math.random } = options;
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = options;
  const lock = createLeaseLock(options);
  const lease = lock.description;
  const holder = () => holderOf(lock.observation()?.lease);
  /** Half of the deadline, so that there is time for another request after a lost one. */
  const requestTimeoutMs = renewDeadlineMs / 2;
  /** The leadership of this process. A lost one stays here until another request for the Lease succeeds. */
  let held: HeldLeadership | undefined;
  /** The last log lines, so that each is written once. */
  let logged: { readonly holder?: string | undefined; readonly failure?: string | undefined } = {};
  const isLeader = metrics.gauge(clusterMetrics.leader);
  isLeader.collect(() => isLeader.set(held?.leadership.valid() ? 1 : 0));
  const transitions = metrics.gauge(clusterMetrics.transitions);
  transitions.collect(() => transitions.set(lock.observation()?.transitions ?? 0));

  const reached = (leads: boolean) => {
    if (logged.failure !== undefined) log.info("the Lease is reachable again", { lease });
    const leader = holder();
    if (leader !== logged.holder && !leads) {
      if (leader === "") log.info("the Lease has no holder", { lease });
      else if (leader !== identity) log.info("another replica leads", { lease, leader });
      else log.info("this replica created the Lease and becomes leader after the lease duration", { lease });
    }
    logged = { holder: leader };
  };
  const failed = (message: string, error: unknown) => {
    const failure = errorText(error);
    if (failure !== logged.failure) log.warn(message, { lease, error: failure });
    logged = { ...logged, failure };
  };

  /** Writes an Event on the Lease. */
  const record = (event: Omit<ObjectEvent, "regarding">) => {
    const { uid = "", namespace = "", name = "" } = lock.observation()?.lease?.metadata ?? {};
    const { apiVersion, kind } = resources.leases;
    const regarding = { apiVersion, kind, namespace, name, uid };
    void recorder?.record({ regarding, ...event });
  };

  /** Resolves when this process becomes leader, with the time at which its write was sent; undefined after `signal`. */
  const acquire = async (signal: AbortSignal): Promise<LeaseMoment | undefined> => {
    while (!signal.aborted) {
      let pauseMs = standbyPollMs(options, random);
      try {
        const attempt = await lock.attempt(() => "acquire", { timeoutMs: requestTimeoutMs, signal });
        const wins = attempt.written && attempt.ms === 0;
        reached(wins);
        held = undefined;
        if (wins) return attempt.sentAt;
        pauseMs = Math.min(attempt.written ? retryPeriodMs : pauseMs, Math.ceil(attempt.ms));
      } catch (error) {
        if (!signal.aborted) failed(logMessages.leaseNotWritten("acquire"), error);
      }
      await pause(clock, pauseMs, signal);
    }
    return undefined;
  };

  /** Renews until the leadership or the work has ended. */
  const renew = async (current: HeldLeadership, workEnded: AbortSignal): Promise<void> => {
    const { abort, valid } = current.leadership;
    const over = AbortSignal.any([abort, workEnded]);
    for (let triedAt = current.renewedAt().monotonic; ; ) {
      await pause(clock, triedAt + retryPeriodMs - clock.monotonic(), over);
      if (over.aborted || !valid()) return;
      triedAt = clock.monotonic();
      try {
        const timeoutMs = Math.min(requestTimeoutMs, current.remaining());
        const attempt = await lock.attempt(() => (valid() ? "renew" : "acquire"), { timeoutMs });
        reached(true);
        if (!attempt.written) return current.end("another replica holds the Lease");
        current.renew(attempt.sentAt);
      } catch (error) {
        failed(logMessages.leaseNotWritten("renew"), error);
      }
    }
  };

  /** Leads, from the first write of the Lease to the end of all work. */
  const leadAndRenew = async (sentAt: LeaseMoment, signal: AbortSignal, lead: LeaderWork) => {
    const current = holdLeadership(clock, renewDeadlineMs, sentAt);
    const { leadership } = current;
    // This process was suspended between the write and its response, so another replica may lead now.
    if (!leadership.valid()) return;
    held = current;
    log.info("this replica leads", { lease, leader: identity });
    record({ type: "Normal", reason: "LeaderElection", message: leaderEventText(identity) });
    const ended = new AbortController();
    const work = Promise.allSettled([lead(leadership)]).finally(() => ended.abort());
    if (signal.aborted) current.stop();
    else signal.addEventListener("abort", current.stop, { once: true });

    await renew(current, ended.signal);
    if (leadership.abort.aborted) {
      logged = { ...logged, holder: undefined };
      const reason = errorText(leadership.abort.reason);
      log.warn(logMessages.leadershipLost, { lease, leader: identity, reason });
    }
    const [result] = await work;
    signal.removeEventListener("abort", current.stop);
    current.close();
    if (leadership.abort.aborted) {
      if (result.status === "rejected") failed(logMessages.leaderWorkFailed, result.reason);
      return;
    }
    await release();
    held = undefined;
    if (result.status === "rejected") throw result.reason;
    if (!signal.aborted) throw new Error("the work of the leader ended unexpectedly");
  };

  const release = async () => {
    try {
      const { written } = await lock.attempt(() => "release", { timeoutMs: requestTimeoutMs });
      if (written) log.info("this replica released the Lease", { lease });
      logged = { holder: holder() };
    } catch (error) {
      log.warn(logMessages.leaseNotReleased, { lease, error: errorText(error) });
    }
  };

  return {
    /**
     * Takes part in the election until `signal` is aborted, and calls `lead` each time this process becomes leader.
     *
     * `lead` works until `stop`, then finishes its requests in flight and resolves. The elector then releases the Lease. `abort` means
     * that the leadership is lost: `lead` must give up its requests at once. After `lead` has settled, this process takes part in the
     * election again. If `signal` is aborted while this process leads, `stop` is aborted first. The elector renews the Lease while
     * `lead` finishes, and aborts `abort` after the renew deadline.
     *
     * The elector logs failed requests and retries. It rejects only with an error of `lead`.
     */
    run: async ({ signal, lead }: { readonly signal: AbortSignal; readonly lead: LeaderWork }) => {
      while (!signal.aborted) {
        const sentAt = await acquire(signal);
        if (sentAt === undefined) return;
        if (signal.aborted) await release();
        else await leadAndRenew(sentAt, signal, lead);
      }
    },
    record,
    /**
     * Returns undefined, or why this process should be restarted: it led, and for two lease durations it could neither renew the Lease
     * nor, after its work ended, read it. A standby is always healthy, as in client-go.
     */
    healthy: () => {
      const silentMs = held === undefined ? 0 : clock.monotonic() - held.renewedAt().monotonic;
      if (silentMs <= 2 * leaseDurationMs) return undefined;
      return `leader election: this replica was leader and has not renewed Lease ${lease} for ${Math.round(silentMs / 1_000)}s`;
    },
  };
}

/** Waits until the time is over or `signal` is aborted. */
async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return;
  await sleep(clock, ms, signal).catch(() => {});
}

/** Returns the text of the Event on the Lease about a new leader. */
export function leaderEventText(identity: string): string {
  return `${identity} became leader`;
}
