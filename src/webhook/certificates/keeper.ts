import { isAlreadyExists, isConflict, isInvalid, isNotFound } from "../../kube/api/errors.ts";
import type { Clock } from "../../lib/clock.ts";
import { backoffMs } from "../../runtime/backoff.ts";
import { Waker } from "../../runtime/waker.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { CertificateSource, Serve } from "./certificate-source.ts";

/** What keeping certificates right over time needs. */
export interface KeeperOptions {
  readonly source: CertificateSource;
  readonly serve: Serve;
  /** Something happens whenever an object changes that the certificates depend on. Endless but for the signal. */
  readonly changes: readonly AsyncIterable<unknown>[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  /** Told after each step: undefined when all is well, else the problem in one line. */
  readonly onState: (problem: string | undefined) => void;
}

/** How often the wall clock is looked at: a machine that was suspended may find its certificates expired. */
const lookEveryMs = 60_000;

/** The least time between two steps that time alone asks for. */
const restMs = 1000;

/** How often another replica may be first before its lead is taken as a failure. */
const races = 5;

/** Takes a step when something changed, when time asks for one, and again after a failure, until the signal. */
export async function keepCertificates(options: KeeperOptions, signal: AbortSignal): Promise<void> {
  const waker = new Waker();
  const following = options.changes.map(async (changes) => {
    try {
      for await (const _change of changes) waker.wake();
    } catch (error) {
      // Without it, changes are found when time asks for a step.
      if (!signal.aborted) options.log.error("a watch of the webhook ended", { error: errorText(error) });
    }
  });
  let failures = 0;
  let state: string | undefined;
  const onState = (problem: string | undefined) => {
    // Each problem once, however often changes or time ask for another try.
    if (problem !== undefined && problem !== state) {
      options.log.warn("the webhook's certificates cannot be kept; trying again until they can", { error: problem });
    } else if (problem === undefined && state !== undefined)
      options.log.info("the webhook's certificates are kept again");
    state = problem;
    options.onState(problem);
  };
  while (!signal.aborted) {
    const { due, failed } = await step({ ...options, onState }, failures, signal);
    failures = failed ? failures + 1 : 0;
    await untilDue(failed ? due : Math.max(due, restMs), waker, options.clock, signal);
  }
  await Promise.all(following);
}

async function step({ source, serve, random, onState }: KeeperOptions, failures: number, signal: AbortSignal) {
  try {
    const due = await source.step(signal, serve);
    onState(undefined);
    return { due, failed: false };
  } catch (error) {
    if (signal.aborted) return { due: 0, failed: true };
    const outrun = isConflict(error) || isAlreadyExists(error) || isInvalid(error) || isNotFound(error);
    if (outrun && failures < races) return { due: 0, failed: true };
    onState(errorText(error));
    return { due: backoffMs(failures, { baseMs: 500, maxMs: 30_000, random }), failed: true };
  }
}

/** By either clock: the wall clock may have jumped ahead, or back. */
async function untilDue(ms: number, waker: Waker, clock: Clock, signal: AbortSignal): Promise<void> {
  const wall = clock.wall() + ms;
  const monotonic = clock.monotonic() + ms;
  while (!signal.aborted && clock.wall() < wall && clock.monotonic() < monotonic) {
    const wait = Math.min(monotonic - clock.monotonic(), lookEveryMs);
    if (await waker.wait(clock, wait, signal)) return;
  }
}
