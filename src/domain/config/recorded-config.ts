/**
 * The configuration that the Pods of a workload read, if the hash in the pod template does not show it. It is an annotation in
 * the metadata of the workload, so that a write does not replace Pods. Format: `<recorded> <hash>`, then `<full hash>` and removed objects if
 * there are any, each as `<key>=<hash>`. Without a recorded hash the text begins with the space.
 */
export interface RecordedConfig {
  /** The hash in the pod template to which the annotation belongs, "" for no hash. With another hash there, for example after `kubectl rollout undo`, the annotation is void. */
  readonly recorded: string;
  /** The hash of the tracked configuration that the Pods read. */
  readonly hash: string;
  /** The hash of tracked and untracked configuration that the Pods read; undefined if all is tracked. */
  readonly fullHash?: string | undefined;
  /** The hashes of objects that were removed and have not returned, by `configKey`: what the Pods may still have. Undefined if there are none. */
  readonly removed?: RemovedObjects | undefined;
}

/** Hashes of removed objects, by `configKey`. Each is the hash of a view of that object alone. */
export type RemovedObjects = ReadonlyMap<string, string>;

/** Returns the value of the annotation. Hashes and keys contain no spaces. */
export function writeRecordedConfig({ recorded, hash, fullHash, removed = new Map() }: RecordedConfig): string {
  const objects = [...removed].map(([key, each]) => `${key}=${each}`);
  return [recorded, hash, ...(fullHash === undefined ? [] : [fullHash]), ...objects].join(" ");
}

/** Parses the annotation; returns undefined if it belongs to another recorded hash than `recorded`. */
export function recordedConfigFor(recorded: string, written: string | undefined): RecordedConfig | undefined {
  if (!written?.startsWith(`${recorded} `)) return undefined;
  const [hash = "", ...rest] = written.slice(recorded.length + 1).split(" ");
  const objects = rest.flatMap((each) => {
    const at = each.indexOf("=");
    return at === -1 ? [] : [[each.slice(0, at), each.slice(at + 1)] as const];
  });
  const fullHash = rest.find((each) => !each.includes("="));
  return objects.length === 0 ? { recorded, hash, fullHash } : { recorded, hash, fullHash, removed: new Map(objects) };
}
