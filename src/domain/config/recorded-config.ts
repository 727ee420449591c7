/**
 * The configuration that the Pods of a workload read, if the hash in the pod template does not show it. It is an annotation in
 * the metadata of the workload, so that a write does not replace Pods. Format: `<recorded> <hash>` or
 * `<recorded> <hash> <full hash>`. Without a recorded hash the text begins with the space.
 */
export interface RecordedConfig {
  /** The hash in the pod template to which the annotation belongs, "" for no hash. With another hash there, for example after `kubectl rollout undo`, the annotation is void. */
  readonly recorded: string;
  /** The hash of the tracked configuration that the Pods read. */
  readonly hash: string;
  /** The hash of tracked and untracked configuration that the Pods read; undefined if all is tracked. */
  readonly fullHash?: string | undefined;
}

/** Returns the value of the annotation. Hashes contain no spaces. */
export function writeRecordedConfig({ recorded, hash, fullHash }: RecordedConfig): string {
  return fullHash === undefined ? `${recorded} ${hash}` : `${recorded} ${hash} ${fullHash}`;
}

/** Parses the annotation; returns undefined if it belongs to another recorded hash than `recorded`. */
export function recordedConfigFor(recorded: string, written: string | undefined): RecordedConfig | undefined {
  if (!written?.startsWith(`${recorded} `)) return undefined;
  const [hash = "", fullHash] = written.slice(recorded.length + 1).split(" ");
  return { recorded, hash, fullHash };
}
