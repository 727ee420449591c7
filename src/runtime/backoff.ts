/** The parameters of a backoff. */
interface BackoffOptions {
  /** The first delay, in milliseconds. */
  readonly baseMs: number;
  /** The longest delay, in milliseconds. */
  readonly maxMs: number;
  /** Numbers in [0, 1), which spread the delays. */
  readonly random: () => number;
}

/**
 * Returns the delay after failure number `attempt`, from 0, in milliseconds: `baseMs` doubled `attempt` times, at most
 * `maxMs`. The result is between half of that and all of it, so that clients that failed together do not return together.
 */
export function backoffMs(attempt: number, { baseMs, maxMs, random }: BackoffOptions): number {
  const longest = Math.min(maxMs, baseMs * 2 ** attempt);
  return longest * (0.5 + random() / 2);
}
