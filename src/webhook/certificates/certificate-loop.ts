import { isAlreadyExists, isConflict, isInvalid, isNotFound } from "../../kube/api/api-failure.ts";
import type { Clock } from "../../lib/clock.ts";
import { backoffMs, Waker } from "../../runtime/timers.ts";
import { errorText, logMessages } from "../../telemetry/logging/log-messages.ts";
import type { ProcessContext } from "../../telemetry/process-context.ts";

/** Certificate, key and paths with which the webhook serves. */
export interface ServingConfig {
  /** PEM. The chain may follow. */
  readonly certificate: string;
  readonly key: string;
  /** Tokens of the accepted paths, at least one. */
  readonly tokens: readonly string[];
}

/** Starts to serve with this configuration; the first call starts to listen. Rejects if the certificate is broken or listening fails. */
type Serve = (served: ServingConfig) => Promise<void>;

/** The source of the webhook's certificate: Wave's own authority, or files. */
export interface CertificateSource {
  /**
   * Brings certificates and registration to the desired state once. Calls `serve` with the certificate and the paths as soon as
   * they are known, even if they are unchanged, and makes the API server trust and call them. Returns the milliseconds after
   * which another call is due although nothing has changed.
   * @throws Error of one line; the caller retries.
   */
  reconcile(signal: AbortSignal, serve: Serve): Promise<number>;
}

interface CertificateLoopOptions extends Pick<ProcessContext, "clock" | "log" | "random"> {
  readonly source: CertificateSource;
  readonly serve: Serve;
  /** Yield whenever an object changes on which the certificates depend. They end only with the signal. */
  readonly changes: readonly AsyncIterable<unknown>[];
  /** Called after each reconcile: with undefined if it succeeded, otherwise with the problem in one line. */
  readonly onState: (problem: string | undefined) => void;
}

/** Interval at which the wall clock is checked: certificates may have expired while the machine was suspended. */
const clockCheckMs = 60_000;

/** Minimum time between two reconciles that only time has caused. */
const minPauseMs = 1000;

/** Number of conflicts in a row that are retried at once. The next one is a failure. */
const maxConflicts = 5;

/** Reconciles the certificates after each change, when it is due, and after a failure, until the signal. */
export async function runCertificateLoop(options: CertificateLoopOptions, signal: AbortSignal): Promise<void> {
  const waker = new Waker();
  const watches = options.changes.map(async (changes) => {
    try {
      for await (const _change of changes) waker.wake();
    } catch (error) {
      // Without this watch, the next due reconcile finds changes.
      if (!signal.aborted) options.log.error(logMessages.webhookWatchEnded, { error: errorText(error) });
    }
  });
  let failures = 0;
  let state: string | undefined;
  const onState = (problem: string | undefined) => {
    // Each problem is logged once, however often it is retried.
    if (problem !== undefined && problem !== state) {
      options.log.warn(logMessages.certificatesNotUpdated, { error: problem });
    } else if (problem === undefined && state !== undefined)
      options.log.info("the webhook's certificates are up to date again");
    state = problem;
    options.onState(problem);
  };
  while (!signal.aborted) {
    const { due, failed } = await reconcile({ ...options, onState }, failures, signal);
    failures = failed ? failures + 1 : 0;
    await waitUntilDue(failed ? due : Math.max(due, minPauseMs), waker, options.clock, signal);
  }
  await Promise.all(watches);
}

async function reconcile(
  { source, serve, random, onState }: CertificateLoopOptions,
  failures: number,
  signal: AbortSignal,
) {
  try {
    const due = await source.reconcile(signal, serve);
    onState(undefined);
    return { due, failed: false };
  } catch (error) {
    if (signal.aborted) return { due: 0, failed: true };
    const conflicted = isConflict(error) || isAlreadyExists(error) || isInvalid(error) || isNotFound(error);
    if (conflicted && failures < maxConflicts) return { due: 0, failed: true };
    onState(errorText(error));
    return { due: backoffMs(failures, { baseMs: 500, maxMs: 30_000, random }), failed: true };
  }
}

/** Waits by both clocks, because the wall clock may jump forward or back. */
async function waitUntilDue(ms: number, waker: Waker, clock: Clock, signal: AbortSignal): Promise<void> {
  const wall = clock.wall() + ms;
  const monotonic = clock.monotonic() + ms;
  while (!signal.aborted && clock.wall() < wall && clock.monotonic() < monotonic) {
    const wait = Math.min(monotonic - clock.monotonic(), clockCheckMs);
    if (await waker.wait(clock, wait, signal)) return;
  }
}
