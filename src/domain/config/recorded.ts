import type { Workload } from "../model/workload.ts";
import type { HashKey, HashKeys } from "../policy/hash-key.ts";
import { type ConfigView, formOf, isHashOf } from "./hash.ts";
import { recordedConfigFor } from "./recorded-config.ts";

/** What a workload's recorded hash tells of the configuration that its Pods see. */
export type Recorded =
  | { readonly tells: "nothing" }
  /** It is by another algorithm. */
  | { readonly tells: "foreign" }
  /** It is under a key of this id, which nobody has. */
  | { readonly tells: "unknown"; readonly keyId: string }
  /** They see the current one. A hash that is `fading` is under a key that is about to be forgotten. */
  | { readonly tells: "same"; readonly hash: string; readonly fading: boolean }
  /** They see another one. */
  | { readonly tells: "other"; readonly hash: string };

/**
 * What the recorded hash tells: by the baseline that stands for it, if there is one that can be told, else by the hash
 * itself, each verified by making it again under its own key. `hash` is the one that was verified. So a baseline holds,
 * once it is noted, whichever keys come back, and replicas that have different ones decide the same.
 */
export function readRecorded(
  { recordedHash, recordedConfig }: Pick<Workload, "recordedHash" | "recordedConfig">,
  view: ConfigView,
  keys: HashKeys | undefined,
): Recorded {
  const noted = recordedConfigFor(recordedHash ?? "", recordedConfig);
  const told = noted === undefined ? undefined : verified(noted.hash, view, keys);
  if (told?.tells === "same" || told?.tells === "other") return told;
  if (recordedHash !== undefined) return verified(recordedHash, view, keys);
  return told?.tells === "unknown" ? told : { tells: "nothing" };
}

/** Whether a hash that was read as `recorded` is the one of `view`; false where it cannot be told. */
export function standsFor(recorded: string, view: ConfigView, keys: HashKeys | undefined): boolean {
  return verified(recorded, view, keys).tells === "same";
}

function verified(hash: string, view: ConfigView, keys: HashKeys | undefined): Recorded {
  if (hash === view.hash) return { tells: "same", hash, fading: false };
  const form = formOf(hash);
  if (form === "foreign") return { tells: "foreign" };
  const { keyId } = form;
  const key = keyId === undefined ? undefined : stored(keys).find(({ id }) => id === keyId);
  const forgotten = key === undefined ? keys?.remembered.find(({ id }) => id === keyId) : undefined;
  if (keyId !== undefined && key === undefined && forgotten === undefined) return { tells: "unknown", keyId };
  if (!isHashOf(hash, view, key ?? forgotten)) return { tells: "other", hash };
  return { tells: "same", hash, fading: forgotten !== undefined };
}

function stored(keys: HashKeys | undefined): readonly HashKey[] {
  if (keys === undefined) return [];
  return keys.previous === undefined ? [keys.current] : [keys.current, keys.previous];
}
