/** Reports whether a rollout has passed that was complete for `completeMs` milliseconds. Without a soak time, it was complete at all. */
export function hasSoaked(completeMs: number, soakMs: number): boolean {
  return completeMs >= Math.max(1, soakMs);
}
