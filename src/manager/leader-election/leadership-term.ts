import type { Clock } from "../../lib/clock.ts";
import type { Leadership } from "../../runtime/leadership.ts";
import type { Moment } from "./lease-lock.ts";

/** One term of a leader: from a write of the Lease until it is given up or not renewed in time. */
export interface Term {
  /** What those that work for the leader get. */
  readonly leadership: Leadership;
  /** When the last successful renewal was sent. */
  readonly renewedAt: () => Moment;
  /** Milliseconds that are left without another renewal; 0 or less: it is over. */
  readonly remaining: () => number;
  /** A renewal succeeded that was sent at `sentAt`. Does not bring back a term that is over. */
  readonly renew: (sentAt: Moment) => void;
  /** Asks those that work for the leader to come to an end, and ends it where they have not within the deadline. */
  readonly stop: () => void;
  /** Ends it at once: what is in flight is aborted. */
  readonly end: (why: string) => void;
  /** Nothing is written any more, and no timer is left behind. */
  readonly close: () => void;
}

/**
 * A term that is valid for `deadlineMs` after its last renewal was *sent*: the record cannot have been seen by others
 * before that, so they leave it alone for longer than it is valid.
 *
 * Time is the larger of what the monotonic and the wall clock say: the first stands still in a suspended machine, the
 * second can be set back. `valid` looks at the clocks, not at a timer, because after SIGSTOP or a suspension code can
 * run before a timer that is overdue. Once over, a term is over: the first to find that out ends it.
 */
export function beginTerm(clock: Clock, deadlineMs: number, sentAt: Moment): Term {
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
  /** A wall clock that jumps there and back must not bring a term back to those who were told that it is over. */
  const valid = () => {
    if (!closed && remaining() <= 0) {
      end("this process stood still, or its clock was set, for longer than the renew deadline");
    }
    return !closed;
  };
  const watch = () => {
    cancelWatch = clock.timer(Math.ceil(remaining()), () => {
      if (remaining() > 0) watch();
      else end(`the Lease could not be renewed within ${deadlineMs / 1_000}s`);
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
      cancelDrain = clock.timer(deadlineMs, () =>
        end(`what was in flight was not finished within ${deadlineMs / 1_000}s`),
      );
    },
    end,
    close,
  };
}
