import type { Clock } from "../../lib/clock.ts";
import type { Leadership } from "../../runtime/leadership.ts";
import type { LeaseMoment } from "./lease-lock.ts";

/** The leadership of this process, from a write of the Lease until it releases the Lease or does not renew it in time. */
export interface HeldLeadership {
  /** The view of it for the work of the leader. */
  readonly leadership: Leadership;
  /** Returns when the last successful renewal was sent. */
  readonly renewedAt: () => LeaseMoment;
  /** Returns the milliseconds until the leadership ends without another renewal; 0 or less: it has ended. */
  readonly remaining: () => number;
  /** Records a successful renewal that was sent at `sentAt`. Has no effect after the end. */
  readonly renew: (sentAt: LeaseMoment) => void;
  /** Requests the work to stop, and ends the leadership if the work has not stopped within the deadline. */
  readonly stop: () => void;
  /** Ends the leadership at once and aborts requests in flight. */
  readonly end: (why: string) => void;
  /** Ends the leadership after its work has ended, and clears all timers. */
  readonly close: () => void;
}

/**
 * Starts a leadership that is valid for `deadlineMs` after its last renewal was *sent*. Other replicas cannot have seen the record
 * before that time, so they wait for longer than the leadership is valid.
 *
 * The elapsed time is the larger one of monotonic and wall clock: the first stops in a suspended machine, the second can be set
 * back. `valid` checks the clocks and not a timer, because after SIGSTOP or a suspension, code can run before an overdue timer.
 * An ended leadership stays ended: the first check that detects the end makes it final.
 */
export function holdLeadership(clock: Clock, deadlineMs: number, sentAt: LeaseMoment): HeldLeadership {
  const stop = new AbortController();
  const abort = new AbortController();
  let renewedAt = sentAt;
  let closed = false;
  let cancelWatch = () => {};
  let cancelDrain = () => {};

  const remaining = () => deadlineMs - Math.max(clock.monotonic() - renewedAt.monotonic, clock.wall() - renewedAt.wall);
  const close = () => {
    closed = true;
    cancelWatch();
    cancelDrain();
  };
  const end = (why: string) => {
    close();
    abort.abort(new Error(why));
  };
  /** A wall clock that jumps forward and back must not revive a leadership that was reported as ended. */
  const valid = () => {
    if (!closed && remaining() <= 0) {
      end("this process was suspended, or its clock was changed, for longer than the renew deadline");
    }
    return !closed;
  };
  const watch = () => {
    cancelWatch = clock.timer(Math.ceil(remaining()), () => {
      if (remaining() > 0) watch();
      else end(`the Lease was not renewed within ${deadlineMs / 1_000}s`);
    });
  };
  watch();

  return {
    leadership: { stop: stop.signal, abort: abort.signal, valid },
    renewedAt: () => renewedAt,
    remaining,
    renew: (moment) => {
      if (valid()) renewedAt = moment;
    },
    stop: () => {
      stop.abort();
      cancelDrain = clock.timer(deadlineMs, () => end(`the work did not stop within ${deadlineMs / 1_000}s`));
    },
    end,
    close,
  };
}
