/**
 * The configuration that the Pods of a workload read, if the hash in the pod template does not show it. It is an annotation in
 * the metadata of the workload, so that a write does not replace Pods. Format: `<recorded> <hash>`, then `<full hash>` and removed objects if
 * there are any, each as `<key>=<hash>`, and `unproven=<changedAt>,<podsAt>`. Without a recorded hash the text begins with the space.
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
  /** Set if nothing showed that the Pods read this configuration when it was recorded. */
  readonly unproven?: UnprovenTimes | undefined;
}

/** Times in seconds since the epoch; 0 if unknown. */
export interface UnprovenTimes {
  /** The last change of what the Pods read. */
  readonly changedAt: number;
  /** The creation of the oldest Pod. */
  readonly podsAt: number;
}

/** Hashes of removed objects, by `configKey`. Each is the hash of a view of that object alone. */
export type RemovedObjects = ReadonlyMap<string, string>;

/** No `configKey` equals it: each has slashes. */
const unprovenField = "unproven";

/** Returns the value of the annotation. Hashes and keys contain no spaces. */
export function writeRecordedConfig({
  recorded,
  hash,
  fullHash,
  removed = new Map(),
  unproven,
}: RecordedConfig): string {
  const objects = [...removed].map(([key, each]) => `${key}=${each}`);
  const times = unproven === undefined ? [] : [`${unprovenField}=${unproven.changedAt},${unproven.podsAt}`];
  return [recorded, hash, ...(fullHash === undefined ? [] : [fullHash]), ...objects, ...times].join(" ");
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
  const removed = new Map(objects);
  const times = removed.get(unprovenField)?.split(",").map(Number);
  removed.delete(unprovenField);
  return {
    recorded,
    hash,
    fullHash,
    ...(removed.size > 0 && { removed }),
    ...(times && { unproven: { changedAt: times[0] || 0, podsAt: times[1] || 0 } }),
  };
}
