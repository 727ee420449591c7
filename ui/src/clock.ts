import { type ReadonlySignal, signal } from "@preact/signals";

/** Returns a clock that changes every second, in milliseconds since the epoch. */
export function secondsClock(): ReadonlySignal<number> {
  const now = signal(Date.now());
  setInterval(() => {
    now.value = Date.now();
  }, 1000);
  return now;
}
