import { randomUUID } from "node:crypto";
import { resources } from "../../kube/api/resources.ts";
import type { EventRecorder } from "../../kube/events/event-recorder.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { type Clock, sleep } from "../../lib/clock.ts";
import type { Leadership } from "../../runtime/leadership.ts";
import { clusterMetrics } from "../../telemetry/catalogue/cluster.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { beginTerm, type Term } from "./leadership-term.ts";
import { type ElectionTimings, holderOf, mistakeInTimings, standbyPollMs } from "./lease.ts";
import { createLeaseLock, type LeaseLock, type Moment } from "./lease-lock.ts";

/** What an elector needs. The client may be shared; each of the elector's requests has a deadline of its own. */
export interface ElectorOptions extends ElectionTimings {
  readonly client: Pick<ApiClient, "request">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  /** Of the Lease. */
  readonly namespace: string;
  /** Of the Lease. */
  readonly name: string;
  /** Who this process is; no other may have the same, see {@link electionIdentity}. */
  readonly identity: string;
  /** Writes "… became leader" on the Lease, as client-go does. */
  readonly recorder?: EventRecorder;
  readonly random?: () => number;
}

/** One process's part in electing a leader by a Lease. */
export interface Elector {
  /**
   * Stands for election until `signal` is aborted, and calls `lead` for each term won.
   *
   * `lead` works until `stop`, then finishes what is in flight and resolves, upon which the Lease is released. Upon
   * `abort` the term is lost: what is in flight is given up at once, and once `lead` has settled this process stands
   * for election again. When `signal` is aborted while leading, `stop` comes first, the Lease is renewed while `lead`
   * finishes, and `abort` comes after the renew deadline if it has not.
   *
   * Lost requests and refusals are logged and tried again; rejects only with what `lead` failed with by itself.
   */
  readonly run: (options: {
    readonly signal: AbortSignal;
    readonly lead: (leadership: Leadership) => Promise<void>;
  }) => Promise<void>;
  /**
   * Undefined, or why this process should be started again: it led, and for two lease durations it has neither renewed
   * nor, its work ended, been able to ask who leads now. A standby is always healthy, as in client-go.
   */
  readonly healthy: () => string | undefined;
}

/** The host's name and a random part, as client-go's users have it: a process started again is somebody else. */
export function electionIdentity(hostname: string): string {
  return `${hostname}_${randomUUID()}`;
}

/** The rules, with reasons: docs/adr/0006-leader-election.md. Throws where the timings contradict each other. */
export function createElector(options: ElectorOptions): Elector {
  const { clock, log, identity, recorder, random = Math.random } = options;
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = options;
  const mistake = mistakeInTimings(options);
  if (mistake !== undefined) throw new Error(mistake);
  const lock = createLeaseLock({ ...options, timings: options });
  const lease = lock.description;
  const holder = () => holderOf(lock.observation()?.lease);
  /** Half of the deadline, so that one lost request leaves time for another. */
  const requestTimeoutMs = renewDeadlineMs / 2;
  /** This process's term; one that is lost is kept until another request about the Lease got through. */
  let term: Term | undefined;
  /** What was last logged, so that it is said once. */
  let told: { readonly holder?: string | undefined; readonly failure?: string | undefined } = {};
  declareMetrics(options.metrics, lock, () => term?.leadership.valid() ?? false);

  const reached = (leads: boolean) => {
    if (told.failure !== undefined) log.info("the Lease can be reached again", { lease });
    const leader = holder();
    if (leader !== told.holder && !leads) {
      if (leader === "") log.info("nobody leads: the Lease is free", { lease });
      else if (leader !== identity) log.info("another replica leads", { lease, leader });
      else log.info("this replica holds the Lease, and leads when it has existed for its duration", { lease });
    }
    told = { holder: leader };
  };
  const failed = (what: string, error: unknown) => {
    const failure = errorText(error);
    if (failure !== told.failure) log.warn(`cannot ${what} the Lease; trying again`, { lease, error: failure });
    told = { ...told, failure };
  };

  const recordThatItLeads = () => {
    const { uid = "", namespace = "", name = "" } = lock.observation()?.lease?.metadata ?? {};
    const { apiVersion, kind } = resources.leases;
    const regarding = { apiVersion, kind, namespace, name, uid };
    void recorder?.record({
      regarding,
      type: "Normal",
      reason: "LeaderElection",
      message: `${identity} became leader`,
    });
  };

  /** When the write was sent that made this process leader; undefined when `signal` ended the campaign. */
  const campaign = async (signal: AbortSignal): Promise<Moment | undefined> => {
    while (!signal.aborted) {
      let pauseMs = standbyPollMs(options, random);
      try {
        const attempt = await lock.attempt(() => "take", { timeoutMs: requestTimeoutMs, signal });
        const wins = attempt.written && attempt.ms === 0;
        reached(wins);
        term = undefined;
        if (wins) return attempt.sentAt;
        pauseMs = Math.min(attempt.written ? retryPeriodMs : pauseMs, Math.ceil(attempt.ms));
      } catch (error) {
        if (!signal.aborted) failed("look at", error);
      }
      await pause(clock, pauseMs, signal);
    }
    return undefined;
  };

  /** Renews until the term is over or `ended` is aborted. */
  const renew = async (current: Term, ended: AbortSignal): Promise<void> => {
    const { abort, valid } = current.leadership;
    const over = AbortSignal.any([abort, ended]);
    for (let triedAt = current.renewedAt().monotonic; ; ) {
      await pause(clock, triedAt + retryPeriodMs - clock.monotonic(), over);
      if (over.aborted || !valid()) return;
      triedAt = clock.monotonic();
      try {
        const timeoutMs = Math.min(requestTimeoutMs, current.remaining());
        const attempt = await lock.attempt(() => (valid() ? "renew" : "take"), { timeoutMs });
        reached(true);
        if (!attempt.written) return current.end("another holds the Lease");
        current.renew(attempt.sentAt);
      } catch (error) {
        failed("renew", error);
      }
    }
  };

  /** One term, from its first write to the end of all that was started in it. */
  const serve = async (sentAt: Moment, signal: AbortSignal, lead: (leadership: Leadership) => Promise<void>) => {
    const current = beginTerm(clock, renewDeadlineMs, sentAt);
    const { leadership } = current;
    // This process stood still between the write and its answer: somebody else may lead by now.
    if (!leadership.valid()) return;
    term = current;
    log.info("this replica leads", { lease, leader: identity });
    recordThatItLeads();
    const ended = new AbortController();
    const work = Promise.allSettled([lead(leadership)]).finally(() => ended.abort());
    if (signal.aborted) current.stop();
    else signal.addEventListener("abort", current.stop, { once: true });

    await renew(current, ended.signal);
    if (leadership.abort.aborted) {
      told = { ...told, holder: undefined };
      const reason = errorText(leadership.abort.reason);
      log.warn("this replica no longer leads", { lease, leader: identity, reason });
    }
    const [result] = await work;
    signal.removeEventListener("abort", current.stop);
    current.close();
    if (leadership.abort.aborted) {
      if (result.status === "rejected") failed("end the work under", result.reason);
      return;
    }
    await release();
    term = undefined;
    if (result.status === "rejected") throw result.reason;
    if (!signal.aborted) throw new Error("the leader's work ended although nothing stopped it");
  };

  const release = async () => {
    try {
      const { written } = await lock.attempt(() => "release", { timeoutMs: requestTimeoutMs });
      if (written) log.info("this replica has released the Lease", { lease });
      told = { holder: holder() };
    } catch (error) {
      const message = "the Lease could not be released; another replica takes it when it has run out";
      log.warn(message, { lease, error: errorText(error) });
    }
  };

  return {
    run: async ({ signal, lead }) => {
      while (!signal.aborted) {
        const sentAt = await campaign(signal);
        if (sentAt === undefined) return;
        if (signal.aborted) await release();
        else await serve(sentAt, signal, lead);
      }
    },
    healthy: () => {
      const silentMs = term === undefined ? 0 : clock.monotonic() - term.renewedAt().monotonic;
      if (silentMs <= 2 * leaseDurationMs) return undefined;
      return `leader election: this replica led and has not renewed the Lease ${lease} for ${Math.round(silentMs / 1_000)}s`;
    },
  };
}

function declareMetrics(metrics: MetricsRegistry, lock: LeaseLock, leads: () => boolean): void {
  const leader = metrics.gauge(clusterMetrics.leader);
  leader.collect(() => leader.set(leads() ? 1 : 0));
  const transitions = metrics.gauge(clusterMetrics.transitions);
  transitions.collect(() => transitions.set(lock.observation()?.transitions ?? 0));
}

/** Waits, but not longer than until `signal` is aborted. */
async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return;
  await sleep(clock, ms, signal).catch(() => {});
}
