/**
 * What the Pods of a workload are taken to see where the hash in their template does not tell it, in an annotation of the
 * workload's own metadata, which makes no new Pods. Written as `<recorded> <hash>`, or `<recorded> <hash> <everything>`;
 * where no hash is recorded it begins with the space.
 */
export interface RecordedConfig {
  /** The hash in the pod template that it stands for, "" where there is none: with another one there, as `rollout undo` restores it, it is void. */
  readonly recorded: string;
  /** The hash of what they are taken to see, of all that counts. */
  readonly hash: string;
  /** The hash of all that they are taken to see, where some of that does not count; undefined where all does. */
  readonly everything?: string | undefined;
}

/** The annotation's value. No hash may have a space in it. */
export function writeRecordedConfig({ recorded, hash, everything }: RecordedConfig): string {
  return everything === undefined ? `${recorded} ${hash}` : `${recorded} ${hash} ${everything}`;
}

/** Reads an annotation with a baseline; undefined where it is of another recorded hash than `recorded`. */
export function recordedConfigFor(recorded: string, written: string | undefined): RecordedConfig | undefined {
  if (!written?.startsWith(`${recorded} `)) return undefined;
  const [hash = "", everything] = written.slice(recorded.length + 1).split(" ");
  return { recorded, hash, everything };
}
