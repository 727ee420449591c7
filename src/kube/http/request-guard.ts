import type { Clock } from "../../lib/clock.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import { ApiError, ClusterConfigError, ConnectionError } from "../api/errors.ts";
import type { RequestInfo } from "./request-info.ts";

/** Cancels one request when its time limit is over or its signal is aborted. */
export interface RequestGuard {
  /** Returns why the request must end; undefined while it may continue. */
  readonly reason: () => Error | undefined;
  /** Reports whether the caller aborted the request, not the time limit. */
  readonly isAbortedByCaller: () => boolean;
  /** Calls `cancel` when there is a reason, immediately if there is one already. */
  readonly onCancel: (cancel: (reason: Error) => void) => void;
  /** Removes the time limit. The signal stays in effect. */
  readonly clearDeadline: () => void;
  /** Ends the guard. */
  readonly release: () => void;
}

/** Creates a guard whose time limit starts now. */
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
    end(new Error(`no response within ${Math.round(timeoutMs) / 1000} s`)),
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

/** Returns the error for the caller: its own abort reason, the error response, or a ConnectionError with the cause. */
export function toRequestError(
  error: unknown,
  info: RequestInfo,
  guard: RequestGuard,
  signal: AbortSignal | undefined,
): unknown {
  if (guard.isAbortedByCaller()) return signal?.reason;
  const cause = guard.reason() ?? error;
  if (!isConnectionFailure(cause)) return cause;
  return new ConnectionError(`${info.text}: ${errorText(cause)}`, { cause });
}

/** A TypeError is a bug. Every other error without a class of its own is a failure of the connection. */
function isConnectionFailure(error: unknown): boolean {
  return !(error instanceof ApiError || error instanceof ClusterConfigError || error instanceof TypeError);
}
