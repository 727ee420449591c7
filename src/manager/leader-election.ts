import { randomUUID } from "node:crypto";
import type { Leadership } from "../controller/leadership.ts";
import type { ApiClient } from "../kube/client.ts";
import type { EventRecorder } from "../kube/event-recorder.ts";
import { type Clock, sleep } from "../lib/clock.ts";
import type { Logger } from "../telemetry/log.ts";
import type { MetricsRegistry } from "../telemetry/metrics.ts";
import { createElectionReport } from "./election-report.ts";
import { type ElectionTimings, holderOf, mistakeInTimings, standbyPollMs } from "./lease.ts";
import { createLeaseApi } from "./lease-api.ts";
import { createLeaseLock, type Moment } from "./lease-lock.ts";
import { beginTerm, type Term } from "./term.ts";

/** What an elector needs. The client may be shared; the elector gives each of its requests a deadline of its own. */
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
  /** Who held the Lease when it was last seen; "" for nobody. */
  readonly leader: () => string;
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
  const { client, clock, namespace, name, identity, leaseDurationMs, renewDeadlineMs, retryPeriodMs } = options;
  const mistake = mistakeInTimings(options);
  if (mistake !== undefined) throw new Error(mistake);
  const random = options.random ?? Math.random;
  const api = createLeaseApi({ client, clock, namespace, name });
  const lock = createLeaseLock({ api, clock, identity, timings: options });
  let term: Term | undefined;
  /** When the Lease was last renewed by this process, until its term and all that belongs to it is over. */
  let ledAt: number | undefined;
  const report = createElectionReport({ ...options, api, lock, leading: () => term?.leadership.valid() ?? false });

  /** Half of the deadline, so that one lost request leaves time for another. */
  const requestTimeoutMs = renewDeadlineMs / 2;

  /** When the write was sent that made this process leader; undefined when `signal` ended the campaign. */
  const campaign = async (signal: AbortSignal): Promise<Moment | undefined> => {
    while (!signal.aborted) {
      let pauseMs = standbyPollMs(options, random);
      try {
        const attempt = await lock.attempt(() => false, { timeoutMs: requestTimeoutMs, signal });
        report.reached(attempt.result === "held" ? attempt.claimMs : 0);
        ledAt = undefined;
        if (attempt.result === "held" && attempt.claimMs === 0) return attempt.sentAt;
        pauseMs =
          attempt.result === "held"
            ? Math.min(retryPeriodMs, Math.ceil(attempt.claimMs))
            : Math.min(pauseMs, Math.ceil(attempt.ms));
      } catch (error) {
        if (!signal.aborted) report.failed("look at", error);
      }
      await pause(clock, pauseMs, signal);
    }
    return undefined;
  };

  /** Renews until the term is over or `ended` is aborted. */
  const renew = async (current: Term, ended: AbortSignal): Promise<void> => {
    const { leadership } = current;
    const over = AbortSignal.any([leadership.abort, ended]);
    let triedAt = current.renewedAt().monotonic;
    while (!over.aborted) {
      await pause(clock, triedAt + retryPeriodMs - clock.monotonic(), over);
      if (over.aborted) return;
      if (!leadership.valid()) return;
      triedAt = clock.monotonic();
      try {
        const timeoutMs = Math.min(requestTimeoutMs, current.remaining());
        const attempt = await lock.attempt(leadership.valid, { timeoutMs });
        report.reached();
        if (attempt.result === "heldByOther") return current.abort("another holds the Lease");
        current.renew(attempt.sentAt);
        ledAt = current.renewedAt().monotonic;
      } catch (error) {
        report.failed("renew", error);
      }
    }
  };

  /** One term, from its first write to the end of all that was started in it. */
  const serve = async (
    sentAt: Moment,
    signal: AbortSignal,
    lead: (leadership: Leadership) => Promise<void>,
  ): Promise<void> => {
    const current = beginTerm(clock, renewDeadlineMs, sentAt);
    const { leadership } = current;
    // This process stood still between the write and its answer: somebody else may lead by now.
    if (!leadership.valid()) return current.close();
    term = current;
    ledAt = sentAt.monotonic;
    report.began();
    const ended = new AbortController();
    const work = runToEnd(lead, leadership).finally(() => ended.abort());
    const drain = () => {
      current.stop();
      sleep(clock, renewDeadlineMs, ended.signal).then(
        () => current.abort(`what was in flight was not finished within ${renewDeadlineMs / 1_000}s`),
        () => {},
      );
    };
    if (signal.aborted) drain();
    else signal.addEventListener("abort", drain, { once: true });

    await renew(current, ended.signal);
    if (leadership.abort.aborted) report.lost(leadership.abort.reason);
    const failure = await work;
    signal.removeEventListener("abort", drain);
    current.close();
    if (leadership.abort.aborted) {
      if (failure !== undefined) report.failed("end the work under", failure.error);
      return;
    }
    await release();
    ledAt = undefined;
    if (failure !== undefined) throw failure.error;
    if (!signal.aborted) throw new Error("the leader's work ended although nothing stopped it");
  };

  const release = async () => {
    try {
      if (await lock.release({ timeoutMs: requestTimeoutMs })) report.released();
    } catch (error) {
      report.notReleased(error);
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
    leader: () => holderOf(lock.observation()?.lease),
    healthy: () => {
      if (ledAt === undefined || clock.monotonic() - ledAt <= 2 * leaseDurationMs) return undefined;
      const seconds = Math.round((clock.monotonic() - ledAt) / 1_000);
      return `leader election: this replica led and has not renewed the Lease ${api.description} for ${seconds}s`;
    },
  };
}

/** What `lead` failed with, or undefined. Wrapped, because anything can be thrown. */
async function runToEnd(
  lead: (leadership: Leadership) => Promise<void>,
  leadership: Leadership,
): Promise<{ readonly error: unknown } | undefined> {
  try {
    await lead(leadership);
    return undefined;
  } catch (error) {
    return { error };
  }
}

/** Waits, but not longer than until `signal` is aborted. */
async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return;
  await sleep(clock, ms, signal).catch(() => {});
}
