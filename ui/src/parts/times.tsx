import { age } from "../../../src/cli/output/sentences.ts";
import { usePage } from "../context.ts";

/** Shows how long ago a time was, for example `2m ago`. Times are in milliseconds since the epoch. */
export function Ago({ at }: { readonly at: number }) {
  const { now } = usePage();
  return (
    <time dateTime={iso(at)} title={local(at)}>
      {age(now.value - at)} ago
    </time>
  );
}

/** Shows how long something exists, for example `3d4h`. */
export function Age({ since }: { readonly since: number }) {
  const { now } = usePage();
  return (
    <time dateTime={iso(since)} title={local(since)}>
      {age(now.value - since)}
    </time>
  );
}

/** Shows the time that is left until `at`, for example `5m30s`. */
export function Left({ at }: { readonly at: number }) {
  const { now } = usePage();
  return (
    <time class="left" dateTime={iso(at)} title={local(at)}>
      {age(at - now.value)}
    </time>
  );
}

/** Draws the part of a wait that is left as a sector that gets smaller. `from` is when the wait began. */
export function Clock({ from, until }: { readonly from: number; readonly until: number }) {
  const { now } = usePage();
  const share = Math.min(1, Math.max(0, (until - now.value) / Math.max(1, until - from)));
  const around = 2 * Math.PI * 4;
  return (
    <svg class="clock" viewBox="0 0 18 18" width="18" height="18" aria-hidden="true">
      <circle class="face" cx="9" cy="9" r="8" />
      <circle
        class="rest"
        cx="9"
        cy="9"
        r="4"
        stroke-dasharray={`${share * around} ${around}`}
        transform="rotate(-90 9 9)"
      />
    </svg>
  );
}

const format = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});

/** Returns a time in the reader's time zone, with the day. */
export function local(at: number): string {
  return format.format(at);
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
