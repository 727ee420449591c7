/** How many times one computation looks for other workloads to admit. */
export const maxBlockRounds = 4;

/**
 * Returns the workloads that one change admits and another change, for which they are due too, does not. Each has the changes that admit
 * it. Such a workload takes no place in a batch ("heldElsewhere"), so that no other workload waits for it. The controller and the CLI both
 * call this function.
 */
export function partlyAdmitted(
  admitted: Iterable<readonly [change: string, keys: ReadonlySet<string>]>,
  isAdmittedByAll: (key: string) => boolean,
): ReadonlyMap<string, readonly string[]> {
  const held = new Map<string, string[]>();
  for (const [change, keys] of admitted) {
    for (const key of keys) if (!isAdmittedByAll(key)) held.set(key, [...(held.get(key) ?? []), change]);
  }
  return held;
}
