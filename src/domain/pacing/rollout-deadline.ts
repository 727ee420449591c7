import type { Progress } from "../model/progress.ts";
import type { PacingFlags } from "../policy/pacing-flags.ts";

/**
 * Returns when a rollout that is not complete fails if it makes no more progress, in milliseconds since the epoch: 0 if its controller reports the failure, infinity if its
 * controller has its own deadline.
 */
export function rolloutDeadline(
  progress: Extract<Progress, { readonly state: "progressing" | "failed" }>,
  lastProgress: number,
  { rolloutTimeoutMs }: Pick<PacingFlags, "rolloutTimeoutMs">,
): number {
  if (progress.state === "failed") return 0;
  return progress.selfTimed ? Number.POSITIVE_INFINITY : lastProgress + rolloutTimeoutMs;
}
