import { holdRows } from "../../../domain/pacing/holds.ts";
import type { NamespaceAlerts } from "../../../domain/pacing/moment.ts";
import type { PacingFlags } from "../../../domain/policy/policy.ts";
import { longestTimerMs, sleep } from "../../../lib/clock.ts";
import { Waker } from "../../../runtime/timers.ts";
import { errorText, logMessages } from "../../../telemetry/logging/log-messages.ts";
import type { LeaderParts } from "../../leader-context.ts";
import type { WorkloadMemory } from "../memory/workload-memory.ts";
import type { AlertQuery } from "./query-alerts.ts";

/** What an {@link AlertGate} needs. */
export interface AlertGateOptions extends GateOptions, LeaderParts<"clock" | "log"> {
  /** Reports whether a rollout waits, is in progress or soaks. */
  readonly isNeeded: () => boolean;
  /** Called when alerts of the matched namespaces begin or end, or when it becomes known whether alerts fire. */
  readonly onChange: (isChanged: (namespace: string) => boolean) => void;
}

/** What an {@link AlertGate} needs of the process. */
export interface GateOptions {
  readonly query: AlertQuery;
  /** Whether rollouts wait as long as Prometheus is away. */
  readonly isRequired: boolean;
  readonly onResult: (result: "answered" | "failed") => void;
  /** Called when Prometheus has not answered for two minutes, with a text for an Event. */
  readonly onAway: (message: string) => void;
}

const queryPeriodMs = 15_000;

/** How long rollouts wait for Prometheus, in milliseconds. */
const awayAfterMs = 120_000;

/** Reports whether alerts matter for a workload: its rollout may start soon, is in progress, or soaks. `now` is in monotonic milliseconds. */
export function needsAlerts(
  { hold, findings: { reportedRollout, progress } }: WorkloadMemory,
  { soakMs }: Pick<PacingFlags, "soakMs">,
  now: number,
): boolean {
  if (hold !== undefined) return hold.reason === "alert" || holdRows[hold.reason].isShort;
  if (reportedRollout?.state === "inProgress" || reportedRollout?.state === "stuck") return true;
  // One more query after the soak time.
  return progress?.step === "complete" && now < progress.since + soakMs + queryPeriodMs;
}

/** When each alert of a namespace was first seen, in monotonic milliseconds; undefined: there was no answer for a time before. */
type Answer = ReadonlyMap<string, ReadonlyMap<string, number | undefined>>;

/**
 * What Prometheus answers while a rollout waits or is in progress: one query for all namespaces every 15 s, and none otherwise. After a time without
 * queries, the old answer does not count. Remembers nothing beyond one leadership.
 */
export class AlertGate {
  readonly #options: AlertGateOptions;
  readonly #waker = new Waker();
  /** The last answer; undefined before the first one, and after a time without queries. */
  #answer: Answer | undefined;
  /** Since when Prometheus has not answered, in monotonic milliseconds; undefined: it has, or there was no query. */
  #missingSince: number | undefined;
  #isAway = false;

  constructor(options: AlertGateOptions) {
    this.#options = options;
  }

  of(namespace: string): NamespaceAlerts {
    const { clock, isRequired } = this.#options;
    if (this.#isAway) return isRequired ? { state: "unknown", isRequired } : { state: "none" };
    if (this.#answer === undefined) return { state: "unknown", isRequired: false };
    const found = this.#answer.get(namespace);
    if (found === undefined) return { state: "none" };
    const now = clock.wall();
    const monotonic = clock.monotonic();
    const onWall = (at: number | undefined) => at && now - (monotonic - at);
    return { state: "firing", alerts: Array.from(found, ([name, since]) => ({ name, since: onWall(since) })) };
  }

  /** Begins to query, if a rollout waits or is in progress now. */
  wake(): void {
    this.#waker.wake();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, isNeeded } = this.#options;
    while (!signal.aborted) {
      if (isNeeded()) {
        await this.#query(signal);
        await sleep(clock, queryPeriodMs, signal).catch(() => {});
      } else {
        this.#answer = undefined;
        await this.#waker.wait(clock, longestTimerMs, signal);
      }
    }
  }

  async #query(signal: AbortSignal): Promise<void> {
    const { clock, query, onResult } = this.#options;
    try {
      const found = await query(signal);
      onResult("answered");
      this.#answered(found);
    } catch (error) {
      if (signal.aborted) return;
      onResult("failed");
      this.#missingSince ??= clock.monotonic();
      this.#failed(errorText(error));
    }
  }

  #answered(found: Awaited<ReturnType<AlertQuery>>): void {
    const { clock, log, onChange } = this.#options;
    const before = this.#answer;
    const wasAway = this.#isAway;
    if (wasAway) log.info("Prometheus answers the query for alerts again");
    const now = clock.monotonic();
    const firstSeen = before === undefined || wasAway ? undefined : now;
    const sinceOf = (namespace: string, name: string) => {
      const known = before?.get(namespace);
      return known?.has(name) ? known.get(name) : firstSeen;
    };
    // The alert that has fired for longest comes first, so that the text of a hold stays the same.
    const ordered = (namespace: string, names: readonly string[]) =>
      names.map((name) => [name, sinceOf(namespace, name)] as const).sort(([, a = 0], [, b = 0]) => a - b);
    const answer = new Map(Array.from(found, ([namespace, names]) => [namespace, new Map(ordered(namespace, names))]));
    this.#answer = answer;
    this.#missingSince = undefined;
    this.#isAway = false;
    onChange((namespace) => !sameNames(before?.get(namespace), answer.get(namespace)));
  }

  #failed(error: string): void {
    const { clock, log, isRequired, onChange, onAway } = this.#options;
    const since = this.#missingSince ?? 0;
    if (this.#isAway || clock.monotonic() - since < awayAfterMs) return;
    this.#isAway = true;
    log.warn(isRequired ? logMessages.alertsAwayHeld : logMessages.alertsAway, { error });
    onAway(isRequired ? gateTexts.awayHeld : gateTexts.away);
    const before = this.#answer;
    onChange((namespace) => before?.has(namespace) === true);
  }
}

function sameNames(a: ReadonlyMap<string, unknown> | undefined, b: ReadonlyMap<string, unknown> | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.size === b.size && [...a.keys()].every((name) => b.has(name));
}

/** The texts of the Event `AlertsUnknown` on the Lease. docs/events.md is made from this table. */
export const gateTexts = {
  away: "Prometheus has not answered the query for alerts for 2m. Rollouts continue without the alert gate. Check --gate-prometheus-url.",
  awayHeld:
    "Prometheus has not answered the query for alerts for 2m. Rollouts wait, because --gate-required is set. Check --gate-prometheus-url.",
} as const;
