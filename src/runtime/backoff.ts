/** How long to wait between tries: from `baseMs` doubling up to `maxMs`, spread by `random` (numbers in [0, 1)). */
export interface BackoffOptions {
  readonly baseMs: number;
  readonly maxMs: number;
  readonly random: () => number;
}

/**
 * Milliseconds to wait after the failure number `attempt`, counted from 0: `baseMs` doubled that many times, at most
 * `maxMs`, and of that between a half and the whole, so that those who failed together do not return together.
 */
export function backoffMs(attempt: number, { baseMs, maxMs, random }: BackoffOptions): number {
  const whole = Math.min(maxMs, baseMs * 2 ** attempt);
  return whole * (0.5 + random() / 2);
}
