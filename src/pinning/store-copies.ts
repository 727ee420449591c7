// Stores what a revision of a workload reads as immutable ConfigMaps. Controllers and webhooks use it before they write the pins.
// Knows domain and kube, no caches and no records.
import type { ConfigMap, OwnerReference } from "#kubernetes";
import { toConfig } from "../domain/config/digest.ts";
import { type Lookup, missingFrom } from "../domain/config/view.ts";
import type { Workload } from "../domain/model/workload.ts";
import { ownersInUse } from "../domain/pinning/collect.ts";
import { type CopyContent, copyData, copyName, wholeContent } from "../domain/pinning/copy-content.ts";
import { contentOf, type PinSource } from "../domain/pinning/pin-request.ts";
import { formatPins, maxPinnedLength, type Pins, parsePins } from "../domain/pinning/pins.ts";
import { copyOf, pinnedCopyLabel, unusedSince } from "../domain/references/annotations.ts";
import { fieldManager } from "../domain/references/field-managers.ts";
import { formatList, quoted } from "../domain/syntax/wording.ts";
import { type ApiFailure, apiFailureOf } from "../kube/api/api-failure.ts";
import type { ApiError } from "../kube/api/errors.ts";
import { resourcePath, resources } from "../kube/api/resources.ts";
import type { ApiClient } from "../kube/http/client.ts";
import { getIfExists } from "../kube/reads/get-if-exists.ts";

/** What {@link storeCopies} needs. */
export interface StoreCopiesOptions {
  readonly client: Pick<ApiClient, "request">;
  /** The lookup of the plan. It may be behind: contents are compared with what the hash includes. */
  readonly lookup: Lookup;
  /** Reports whether an owner of a copy exists and is not being deleted. */
  readonly isAlive: (owner: OwnerReference, namespace: string) => boolean;
  readonly signal?: AbortSignal;
  readonly mayBeSent?: () => boolean;
}

/** How storing ended. */
export type StoredCopies =
  /** All copies are stored and verified. `pinned` is the annotation for the pod template; undefined if nothing is pinned. */
  | { readonly type: "stored"; readonly pinned: string | undefined }
  /** A ConfigMap has another content than the hash includes. It changed after the plan. */
  | { readonly type: "stale" }
  /**
   * A copy cannot be stored, so the Pods read live configuration. Only a change that must not reach Pods keeps its copy in `pinned`: the hash
   * includes the content of this copy, and not the live content. `message` is for the owner of the workload.
   */
  | { readonly type: "unpinned"; readonly pinned: string | undefined; readonly message: string };

/** A copy cannot be stored: one clause without a final period. */
interface Refused {
  readonly type: "refused";
  readonly why: string;
}

/** The name of the copy of one source, or why there is none. */
type StoredCopyName = string | { readonly type: "stale" } | Refused;

/**
 * Stores a copy of each source, and verifies copies that exist. All or none are pinned, so that a revision is never pinned in part because
 * of a refused write. Throws what {@link ApiClient.request} throws if the API server does not answer.
 */
export async function storeCopies(
  workload: Workload,
  sources: readonly PinSource[],
  options: StoreCopiesOptions,
): Promise<StoredCopies> {
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
  options: StoreCopiesOptions,
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
    if (read !== undefined) return createCopy(workload, source, copyData(stored, read), read, options);
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
  const { namespace, references } = source;
  const cached = options.lookup("ConfigMap", namespace, current);
  if (cached?.isCopy !== true || contentOf(source, cached) === undefined) return undefined;
  if (missingFrom(references, () => cached).length > 0) return undefined;
  const used = await useCopy(workload, { namespace, name: current }, wholeContent(cached), options);
  if (used === "used") return current;
  return used === "absent" ? undefined : used;
}

/** Returns the name of a stored copy with this content, which the workload may use; undefined if there is none. */
async function existingCopy(
  workload: Workload,
  { namespace, name }: Pick<PinSource, "namespace" | "name">,
  content: CopyContent,
  options: StoreCopiesOptions,
): Promise<string | undefined> {
  for (const digits of [10, 20] as const) {
    const copy = copyName(name, content, digits);
    const used = await useCopy(workload, { namespace, name: copy }, content, options);
    if (used === "used") return copy;
    if (used === "absent") return undefined;
  }
  return undefined;
}

/** How many times a copy is read again that other workloads take into use at the same time. */
const maxConflicts = 10;

/** Takes a copy with this content into use. Returns the object if it is not such a copy. Throws the last conflict if there are too many. */
async function useCopy(
  workload: Workload,
  copy: Pick<PinSource, "namespace" | "name">,
  content: CopyContent,
  options: StoreCopiesOptions,
): Promise<"used" | "absent" | ConfigMap> {
  for (let tries = 1; ; tries++) {
    const stored = await readConfigMap(copy.namespace, copy.name, options);
    if (stored === undefined) return "absent";
    if (!isUsable(stored, content, options)) return stored;
    const conflict = await takeIntoUse(workload, stored, options);
    if (conflict === undefined) return "used";
    if (tries === maxConflicts) throw conflict;
  }
}

function readConfigMap(namespace: string, name: string, options: StoreCopiesOptions): Promise<ConfigMap | undefined> {
  const path = resourcePath(resources.configMaps, { namespace, name });
  return getIfExists<ConfigMap>(options.client, { path, ...limitsOf(options) });
}

/** Reports whether an object is an immutable copy of Wave with this content that the garbage collector is not about to delete. */
function isUsable(stored: ConfigMap, content: CopyContent, { isAlive }: Pick<StoreCopiesOptions, "isAlive">): boolean {
  const { labels, deletionTimestamp, ownerReferences = [], namespace = "" } = stored.metadata ?? {};
  if (labels?.[pinnedCopyLabel] !== "true" || stored.immutable !== true || deletionTimestamp) return false;
  if (wholeContent(toConfig("ConfigMap", stored)).digest !== content.digest) return false;
  return ownerReferences.length === 0 || ownerReferences.some((owner) => isAlive(owner, namespace));
}

/**
 * Takes the mark of the collector off a copy and adds the workload to its owners, if either is needed. Returns the error if the copy was
 * changed or deleted meanwhile.
 */
async function takeIntoUse(
  workload: Workload,
  stored: ConfigMap,
  options: StoreCopiesOptions,
): Promise<ApiError | undefined> {
  const { namespace, name, resourceVersion, annotations, ownerReferences: owners = [] } = stored.metadata ?? {};
  const isMarked = annotations?.[unusedSince] !== undefined;
  const owner = ownerOf(workload);
  const ownerReferences = ownersInUse(owners, [owner]);
  if (!isMarked && ownerReferences === undefined) return undefined;
  const metadata = {
    resourceVersion,
    ...(isMarked && { annotations: { [unusedSince]: null } }),
    ...(ownerReferences && { ownerReferences }),
  };
  try {
    await options.client.request({
      method: "PATCH",
      path: resourcePath(resources.configMaps, { namespace, name }),
      query: { fieldManager },
      contentType: "application/merge-patch+json",
      body: { metadata },
      ...limitsOf(options),
    });
    return undefined;
  } catch (error) {
    const failure = apiFailureOf(error);
    switch (failure?.type) {
      case "conflict":
      case "notFound":
        return failure.error;
      case "forbidden":
      case "invalid":
      case "deniedByWebhook":
        // Without permission to add an owner, Wave itself still collects the copy. A mark that stays would collect it in use.
        if (!isMarked) return undefined;
        throw error;
      default:
        throw error;
    }
  }
}

async function createCopy(
  workload: Workload,
  { namespace, name }: PinSource,
  data: Pick<ConfigMap, "data" | "binaryData">,
  content: CopyContent,
  options: StoreCopiesOptions,
): Promise<string | Refused> {
  const owner = ownerOf(workload);
  for (const digits of [10, 20] as const) {
    const copy = copyName(name, content, digits);
    const body = copyObject({ namespace, name }, copy, data, owner);
    try {
      const path = resourcePath(resources.configMaps, { namespace });
      const created = await options.client.request<ConfigMap>({
        method: "POST",
        path,
        query: { fieldManager },
        body,
        ...limitsOf(options),
      });
      // An admission plugin may have changed what is stored.
      if (isUsable(created, content, { isAlive: () => true })) return copy;
      return refused(`the stored copy ${quoted(copy)} differs from ConfigMap ${quoted(name)}`);
    } catch (error) {
      const failure = apiFailureOf(error);
      switch (failure?.type) {
        case "alreadyExists": {
          const found = await existingCopy(workload, { namespace, name }, content, options);
          if (found !== undefined) return found;
          continue;
        }
        case "forbidden":
        case "invalid":
        case "badRequest":
        case "deniedByWebhook":
          return refused(`a copy of ConfigMap ${quoted(name)} cannot be stored: ${refusal(failure)}`);
        default:
          throw error;
      }
    }
  }
  return refused(`other objects have the names of the copies of ConfigMap ${quoted(name)}`);
}

/** Returns the object of a copy to create. */
export function copyObject(
  { namespace, name }: Pick<PinSource, "namespace" | "name">,
  copy: string,
  data: Pick<ConfigMap, "data" | "binaryData">,
  owner: OwnerReference | undefined,
): ConfigMap {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      namespace,
      name: copy,
      // Never a label of the source: a GitOps tool would take the copy as its own, and prune it.
      labels: { [pinnedCopyLabel]: "true" },
      annotations: { [copyOf]: name },
      ...(owner && { ownerReferences: [owner] }),
    },
    immutable: true,
    ...data,
  };
}

/** Returns the reference of a copy to its workload; undefined before the API server has given the workload a uid. */
export function ownerOf({ row, name, uid }: Workload): OwnerReference | undefined {
  return uid === "" ? undefined : { apiVersion: row.apiVersion, kind: row.kind, name, uid };
}

function refused(why: string): Refused {
  return { type: "refused", why };
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
  if (kept.size === 0)
    return { type: "unpinned", pinned: undefined, message: `Not pinned: ${why}. New Pods read live configuration.` };
  const configMaps = `ConfigMap${kept.size === 1 ? "" : "s"} ${formatList([...kept.keys()], 3, quoted)}`;
  const effect = `New Pods read the pinned content of ${configMaps}, and other configuration live.`;
  return { type: "unpinned", pinned: formatPins(kept), message: `Not pinned completely: ${why}. ${effect}` };
}

function limitsOf({ signal, mayBeSent }: StoreCopiesOptions): Pick<StoreCopiesOptions, "signal" | "mayBeSent"> {
  return { ...(signal && { signal }), ...(mayBeSent && { mayBeSent }) };
}

/** Returns why a copy was refused. Of the message, only a quota is quoted: the text of an admission plugin may contain values. */
function refusal({ type, error }: { readonly type: ApiFailure["type"]; readonly error: ApiError }): string {
  const { reason, status, serverMessage } = error;
  const quota = /exceeded quota: [^"\n]*/.exec(serverMessage)?.[0];
  if (type === "forbidden" && quota !== undefined) return quota.trim();
  return reason === "" ? `status ${status}` : `${reason} (${status})`;
}
