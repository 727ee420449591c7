// Stores what a revision of a workload reads as immutable ConfigMaps. Controllers and webhooks use it before they write the pins.
// Knows domain and kube, no caches and no records.
import type { ConfigMap, OwnerReference } from "#kubernetes";
import { contentBytes, toConfig } from "../domain/config/digest.ts";
import type { Workload } from "../domain/model/workload-shape.ts";
import { type CopySize, copyLimitText, exceedsCopyLimit } from "../domain/pinning/collect.ts";
import { contentOf, type PinSource, pinTexts } from "../domain/pinning/pin-request.ts";
import {
  type CopyContent,
  copyData,
  copyName,
  formatPins,
  maxPinnedLength,
  type Pins,
  parsePins,
  wholeContent,
} from "../domain/pinning/pinned-lookup.ts";
import { copyOf, editedBy, pinnedCopyLabel } from "../domain/references/annotations.ts";
import { contentEditedBy, fieldManager } from "../domain/references/field-managers.ts";
import { quoted } from "../domain/syntax/names.ts";
import { isAlreadyExists, refusalOf } from "../kube/api/api-failure.ts";
import { resourcePath, resources } from "../kube/api/resources.ts";
import {
  existingCopy,
  isCopyWith,
  ownerOf,
  type Refused,
  readConfigMap,
  refused,
  refusedWrite,
  type StoreCopiesOptions,
  useCopy,
} from "./use-copy.ts";

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

interface CreateCopyOptions extends StoreCopiesOptions {
  /** The copies that this call has stored: the caches may not have them yet. */
  readonly created: CopySize[];
}

/** Stores a copy with this content of a ConfigMap, and returns its name. An equal copy that another client has stored meanwhile is used. */
async function createCopy(
  workload: Workload,
  { namespace, name }: PinSource,
  from: ConfigMap | undefined,
  content: CopyContent,
  options: CreateCopyOptions,
): Promise<string | Refused> {
  const owner = ownerOf(workload);
  const data = copyData(from, content);
  const bytes = contentBytes(data);
  const known = new Map([...options.copiesIn(namespace), ...options.created].map((copy) => [copy.name, copy]));
  if (exceedsCopyLimit([...known.values()], bytes)) return refused(copyLimitText);
  for (const digits of [10, 20] as const) {
    const copy = copyName(name, content, digits);
    const body = copyObject({ namespace, name }, copy, { data, editor: editorOf(from), owner });
    try {
      const path = resourcePath(resources.configMaps, { namespace });
      const created = await options.client.request<ConfigMap>({
        method: "POST",
        path,
        query: { fieldManager },
        body,
        signal: options.signal,
        mayBeSent: options.mayBeSent,
      });
      options.created.push({ name: copy, bytes });
      // An admission plugin may have changed what is stored.
      if (isCopyWith(created, content)) return copy;
      return refused(`the stored copy ${quoted(copy)} differs from ConfigMap ${quoted(name)}`);
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal !== undefined) return refusedWrite(`a copy of ConfigMap ${quoted(name)} cannot be stored`, refusal);
      if (!isAlreadyExists(error)) throw error;
      const found = await existingCopy(workload, { namespace, name }, content, options);
      if (found !== undefined) return found;
    }
  }
  return refused(`other objects have the names of the copies of ConfigMap ${quoted(name)}`);
}

/** The parts of a copy that its name does not decide. */
interface CopyParts {
  readonly data: Pick<ConfigMap, "data" | "binaryData">;
  /** The field manager that wrote the content; undefined if unknown. */
  readonly editor: string | undefined;
  readonly owner: OwnerReference | undefined;
}

/** Returns the object of a copy to create. */
export function copyObject(
  { namespace, name }: Pick<PinSource, "namespace" | "name">,
  copy: string,
  { data, editor, owner }: CopyParts,
): ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      namespace,
      name: copy,
      // Never a label of the source: a GitOps tool would take the copy as its own, and prune it.
      labels: { [pinnedCopyLabel]: "true" },
      annotations: { [copyOf]: name, ...(editor !== undefined && { [editedBy]: editor }) },
      ...(owner && { ownerReferences: [owner] }),
    },
    immutable: true,
    ...data,
  };
}

/** Returns who wrote the content of a ConfigMap or of a copy, as a field manager. The ConfigMap forgets this with its next edit. */
export function editorOf(from: ConfigMap | undefined): string | undefined {
  const { metadata = {} } = from ?? {};
  return metadata.labels?.[pinnedCopyLabel] === "true" ? metadata.annotations?.[editedBy] : contentEditedBy(metadata);
}
