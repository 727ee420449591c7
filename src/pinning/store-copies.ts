// Stores what a revision of a workload reads as immutable ConfigMaps. Controllers and webhooks use it before they write the pins.
// Knows domain and kube, no caches and no records.
import type { ConfigMap } from "#kubernetes";
import { toConfig } from "../domain/config/digest.ts";
import type { Workload } from "../domain/model/workload.ts";
import { wholeContent } from "../domain/pinning/copy-content.ts";
import { contentOf, type PinSource } from "../domain/pinning/pin-request.ts";
import { pinTexts } from "../domain/pinning/pin-texts.ts";
import { formatPins, maxPinnedLength, type Pins, parsePins } from "../domain/pinning/pins.ts";
import { type CreateCopyOptions, createCopy } from "./create-copy.ts";
import { existingCopy, type Refused, readConfigMap, type StoreCopiesOptions, useCopy } from "./use-copy.ts";

/** How storing ended. */
type StoredCopies =
  /** All copies are stored and verified. `pinned` is the annotation for the pod template; undefined if nothing is pinned. */
  | { readonly type: "stored"; readonly pinned: string | undefined }
  /** A ConfigMap has another content than the hash includes. It changed after the plan. */
  | { readonly type: "stale" }
  /**
   * A copy cannot be stored, so the Pods read live configuration. Only a change that must not reach Pods keeps its copy in `pinned`: the hash
   * includes the content of this copy, and not the live content. `message` is for the owner of the workload.
   */
  | { readonly type: "unpinned"; readonly pinned: string | undefined; readonly message: string };

/** The name of the copy of one source, or why there is none. */
type StoredCopyName = string | { readonly type: "stale" } | Refused;

/**
 * Stores a copy of each source, and verifies copies that exist. All or none are pinned, so that a revision is never pinned in part because
 * of a refused write. Throws what {@link ApiClient.request} throws if the API server does not answer.
 */
export async function storeCopies(
  workload: Workload,
  sources: readonly PinSource[],
  known: StoreCopiesOptions,
): Promise<StoredCopies> {
  const options: CreateCopyOptions = { ...known, created: [] };
  const current = (workload.pinned !== undefined && parsePins(workload.pinned)) || new Map<string, string>();
  const pins = new Map<string, string>();
  for (const source of sources) {
    const stored = await storeCopy(workload, source, current.get(source.name), options);
    if (typeof stored === "string") pins.set(source.name, stored);
    else if (stored.type === "stale") return stored;
    else return unpinned(workload, sources, current, stored.why, options);
  }
  const pinned = formatPins(pins);
  if (pinned.length > maxPinnedLength)
    return unpinned(workload, sources, current, `it reads ${pins.size} ConfigMaps, too many to pin`, options);
  return { type: "stored", pinned: pinned === "" ? undefined : pinned };
}

/** Returns the name of the copy of one source. */
async function storeCopy(
  workload: Workload,
  source: PinSource,
  current: string | undefined,
  options: CreateCopyOptions,
): Promise<StoredCopyName> {
  const { namespace, name } = source;
  const kept = current === undefined ? undefined : await currentCopy(workload, source, current, options);
  if (typeof kept === "string") return kept;
  const content = contentOf(source, options.lookup("ConfigMap", namespace, name));
  if (content !== undefined) {
    const found = await existingCopy(workload, source, content, options);
    if (found !== undefined) return found;
  }
  // If the change is held or rejected, only the current copy has what the hash includes.
  for (const stored of [await readConfigMap(namespace, name, options), ...(kept === undefined ? [] : [kept])]) {
    const read = contentOf(source, stored && toConfig("ConfigMap", stored));
    if (read !== undefined) return createCopy(workload, source, stored, read, options);
  }
  return { type: "stale" };
}

/**
 * Returns the name of the copy that the pod template already names, if it has what the hash includes. It may have more keys than Pods read
 * now, and its source may have another content, which is held or was rejected. Returns the object if it has this content and must not be used.
 */
async function currentCopy(
  workload: Workload,
  source: PinSource,
  current: string,
  options: StoreCopiesOptions,
): Promise<string | ConfigMap | undefined> {
  const { namespace } = source;
  const cached = options.lookup("ConfigMap", namespace, current);
  if (cached?.isCopy !== true || contentOf(source, cached) === undefined) return undefined;
  const used = await useCopy(workload, { namespace, name: current }, wholeContent(cached), options);
  if (used === "absent") return undefined;
  // The pod template or a revision names the copy, so that the collector does not delete it, whatever its mark is.
  return used === "used" || "type" in used ? current : used;
}

/** Returns the result if a copy cannot be stored. */
async function unpinned(
  workload: Workload,
  sources: readonly PinSource[],
  current: Pins,
  why: string,
  options: StoreCopiesOptions,
): Promise<StoredCopies> {
  const kept = new Map<string, string>();
  for (const source of sources) {
    const { namespace, name } = source;
    const live = await readConfigMap(namespace, name, options);
    if (contentOf(source, live && toConfig("ConfigMap", live)) !== undefined) continue;
    const copy = current.get(name);
    const stored = copy === undefined ? undefined : await currentCopy(workload, source, copy, options);
    if (typeof stored !== "string") return { type: "stale" };
    kept.set(name, stored);
  }
  if (kept.size === 0) return { type: "unpinned", pinned: undefined, message: pinTexts.notPinned(why) };
  const message = pinTexts.notPinnedCompletely(why, [...kept.keys()]);
  return { type: "unpinned", pinned: formatPins(kept), message };
}
