import type { Workload } from "../model/workload.ts";
import type { HashKey, HashKeys } from "../policy/hash-key.ts";
import { type ConfigView, hashFormat, isHashOf } from "./hash.ts";
import { recordedConfigFor, type UnprovenTimes } from "./recorded-config.ts";

/** How the recorded hash of a workload relates to a view. */
type RecordedHash =
  /** The workload has no recorded hash. */
  | { readonly state: "none" }
  /** Another algorithm made the hash. */
  | { readonly state: "foreign" }
  /** The hash was made with a key that Wave does not have. */
  | { readonly state: "unknownKey"; readonly keyId: string }
  /** The Pods read the view. If `keyExpires`, only this process still has the key of the hash. */
  | {
      readonly state: "current";
      readonly hash: string;
      readonly keyExpires: boolean;
      /** Set if nothing has shown that the Pods read it. */
      readonly unproven?: UnprovenTimes | undefined;
    }
  /** The Pods read another configuration. */
  | { readonly state: "outdated"; readonly hash: string };

/**
 * Compares the recorded hash of a workload with a view. The recorded configuration has precedence if it belongs to the recorded
 * hash and its key is known; otherwise the recorded hash itself is compared. Each hash is recomputed with its own key. `hash`
 * is the compared hash. So a recorded configuration stays valid whichever keys return, and replicas with different keys
 * decide the same.
 */
export function readRecordedHash(
  { recordedHash, recordedConfig }: Pick<Workload, "recordedHash" | "recordedConfig">,
  view: ConfigView,
  keys: HashKeys | undefined,
): RecordedHash {
  const config = recordedConfigFor(recordedHash ?? "", recordedConfig);
  const compared = config === undefined ? undefined : compare(config.hash, view, keys);
  if (compared?.state === "current") return { ...compared, unproven: config?.unproven };
  if (compared?.state === "outdated") return compared;
  if (recordedHash !== undefined) return compare(recordedHash, view, keys);
  return compared?.state === "unknownKey" ? compared : { state: "none" };
}

/** Returns the hash that {@link readRecordedHash} compares first; undefined if the workload has none. */
export function comparedHash({
  recordedHash,
  recordedConfig,
}: Pick<Workload, "recordedHash" | "recordedConfig">): string | undefined {
  return recordedConfigFor(recordedHash ?? "", recordedConfig)?.hash ?? recordedHash;
}

/** Reports whether the Pods read other content than a hash that is in their pod template: it was recorded later, beside the hash. */
export function readsOtherContent(
  { recordedHash, recordedConfig }: Pick<Workload, "recordedHash" | "recordedConfig">,
  hash: string,
): boolean {
  if (recordedHash !== hash) return false;
  const read = recordedConfigFor(recordedHash, recordedConfig);
  return read !== undefined && read.hash !== hash;
}

/** Reports whether a recorded hash is the hash of `view`; false if its key or algorithm is unknown. */
export function matchesView(recorded: string, view: ConfigView, keys: HashKeys | undefined): boolean {
  return compare(recorded, view, keys).state === "current";
}

function compare(hash: string, view: ConfigView, keys: HashKeys | undefined): RecordedHash {
  if (hash === view.hash) return { state: "current", hash, keyExpires: false };
  const format = hashFormat(hash);
  if (format === "foreign") return { state: "foreign" };
  const { keyId } = format;
  const key = keyId === undefined ? undefined : storedKeys(keys).find(({ id }) => id === keyId);
  const remembered = key === undefined ? keys?.remembered.find(({ id }) => id === keyId) : undefined;
  if (keyId !== undefined && key === undefined && remembered === undefined) return { state: "unknownKey", keyId };
  if (!isHashOf(hash, view, key ?? remembered)) return { state: "outdated", hash };
  return { state: "current", hash, keyExpires: remembered !== undefined };
}

function storedKeys(keys: HashKeys | undefined): readonly HashKey[] {
  if (keys === undefined) return [];
  return keys.previous === undefined ? [keys.current] : [keys.current, keys.previous];
}
