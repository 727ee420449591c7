/**
 * What the Pods of a workload are taken to see where the hash in their template cannot be told, in an annotation of the
 * workload's own metadata, which makes no new Pods. Written as `<recorded> <hash>`.
 */
export interface Baseline {
  /** The hash in the pod template that it stands for: with another one there, as `rollout undo` restores it, it is void. */
  readonly recorded: string;
  /** The hash of what they are taken to see. */
  readonly hash: string;
}

/** The annotation's value. Neither hash may have a space in it. */
export function writeBaseline({ recorded, hash }: Baseline): string {
  return `${recorded} ${hash}`;
}

/** The hash that a baseline, as it is written, gives for a recorded one; undefined where it stands for another. */
export function baselineFor(recorded: string, written: string | undefined): string | undefined {
  if (!written?.startsWith(`${recorded} `)) return undefined;
  return written.slice(recorded.length + 1);
}
