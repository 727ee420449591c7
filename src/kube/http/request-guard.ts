import type { Clock } from "../../lib/clock.ts";

/** Watches over one request: cancels it when its time is up or its signal is aborted. */
export interface RequestGuard {
  /** Why the request is to end; undefined while it may go on. */
  readonly reason: () => Error | undefined;
  /** Whether it was the caller who gave up, rather than the time that was up. */
  readonly isAbortedByCaller: () => boolean;
  /** `cancel` is called once there is a reason, at once where there is one already. */
  readonly onCancel: (cancel: (reason: Error) => void) => void;
  /** The deadline is met; only the signal counts from here. */
  readonly clearDeadline: () => void;
  /** Nothing is watched any more. */
  readonly release: () => void;
}

/** Begins to watch; `timeoutMs` counts from now. */
export function createRequestGuard(clock: Clock, timeoutMs: number, signal: AbortSignal | undefined): RequestGuard {
  let reason: Error | undefined;
  let byCaller = false;
  const cancels: ((reason: Error) => void)[] = [];
  const end = (error: Error) => {
    if (reason !== undefined) return;
    reason = error;
    for (const cancel of cancels.splice(0)) cancel(error);
  };
  const clearDeadline = clock.timer(timeoutMs, () =>
    end(new Error(`no answer within ${Math.round(timeoutMs) / 1000} s`)),
  );
  const onAbort = () => {
    byCaller = reason === undefined;
    end(signal?.reason instanceof Error ? signal.reason : new Error("aborted", { cause: signal?.reason }));
  };
  if (signal?.aborted) onAbort();
  else signal?.addEventListener("abort", onAbort, { once: true });

  return {
    reason: () => reason,
    isAbortedByCaller: () => byCaller,
    onCancel: (cancel) => {
      if (reason === undefined) cancels.push(cancel);
      else cancel(reason);
    },
    clearDeadline,
    release: () => {
      clearDeadline();
      signal?.removeEventListener("abort", onAbort);
      cancels.length = 0;
    },
  };
}
