import type { ConfigMap, OwnerReference } from "#kubernetes";
import { toConfig } from "../domain/config/digest.ts";
import type { Lookup } from "../domain/config/view-of-references.ts";
import type { Workload } from "../domain/model/workload-shape.ts";
import { type CopySize, ownersInUse } from "../domain/pinning/collect.ts";
import type { PinSource } from "../domain/pinning/pin-request.ts";
import { type CopyContent, copyName, wholeContent } from "../domain/pinning/pinned-lookup.ts";
import { pinnedCopyLabel, unusedSince } from "../domain/references/annotations.ts";
import { fieldManager } from "../domain/references/field-managers.ts";
import { quoted } from "../domain/syntax/names.ts";
import { ApiError, apiFailureOf, refusalOf } from "../kube/api/api-failure.ts";
import { resourcePath, resources } from "../kube/api/resources.ts";
import type { ApiRequest } from "../kube/http/api-request.ts";
import type { ApiClient } from "../kube/http/client.ts";
import { getIfExists } from "../kube/reads/reads.ts";

/** What {@link storeCopies} needs. */
export interface StoreCopiesOptions extends Pick<ApiRequest, "signal" | "mayBeSent"> {
  readonly client: Pick<ApiClient, "request">;
  /** The lookup of the plan. It may be behind: contents are compared with what the hash includes. */
  readonly lookup: Lookup;
  /** Reports whether an owner of a copy exists and is not being deleted. */
  readonly isAlive: (owner: OwnerReference, namespace: string, signal?: AbortSignal) => Promise<boolean>;
  /** Returns the copies of a namespace that are known. */
  readonly copiesIn: (namespace: string) => readonly CopySize[];
}

/** Returns the name of a stored copy with this content; undefined if there is none, {@link Refused} if the workload may not use it. */
export async function existingCopy(
  workload: Workload,
  { namespace, name }: Pick<PinSource, "namespace" | "name">,
  content: CopyContent,
  options: StoreCopiesOptions,
): Promise<string | Refused | undefined> {
  for (const digits of [10, 20] as const) {
    const copy = copyName(name, content, digits);
    const used = await useCopy(workload, { namespace, name: copy }, content, options);
    if (used === "used") return copy;
    if (used === "absent") return undefined;
    if ("type" in used) return used;
  }
  return undefined;
}

/** How many times a copy is read again that other workloads take into use at the same time. */
const maxConflicts = 10;

/**
 * Takes a copy with this content into use. Returns the object if it is not such a copy, and {@link Refused} if its mark cannot be removed. Throws
 * the last conflict if there are too many.
 */
export async function useCopy(
  workload: Workload,
  copy: Pick<PinSource, "namespace" | "name">,
  content: CopyContent,
  options: StoreCopiesOptions,
): Promise<"used" | "absent" | Refused | ConfigMap> {
  for (let tries = 1; ; tries++) {
    const stored = await readConfigMap(copy.namespace, copy.name, options);
    if (stored === undefined) return "absent";
    if (!isCopyWith(stored, content) || !(await isKept(stored, options))) return stored;
    const taken = await takeIntoUse(workload, stored, options);
    if (!(taken instanceof ApiError)) return taken;
    if (tries === maxConflicts) throw taken;
  }
}

/** Reads a ConfigMap, such as a copy or its source; undefined if it does not exist. */
export function readConfigMap(
  namespace: string,
  name: string,
  { client, signal, mayBeSent }: Pick<StoreCopiesOptions, "client" | "signal" | "mayBeSent">,
): Promise<ConfigMap | undefined> {
  return getIfExists<ConfigMap>(client, {
    path: resourcePath(resources.configMaps, { namespace, name }),
    signal,
    mayBeSent,
  });
}

/** Reports whether an object is an immutable copy of Wave with this content that is not being deleted. */
export function isCopyWith(stored: ConfigMap, content: CopyContent): boolean {
  const { labels, deletionTimestamp } = stored.metadata ?? {};
  if (labels?.[pinnedCopyLabel] !== "true" || stored.immutable !== true || deletionTimestamp) return false;
  return wholeContent(toConfig("ConfigMap", stored)).digest === content.digest;
}

/** Reports whether the garbage collector of Kubernetes keeps a copy: it has no owner, or one of its owners exists. */
async function isKept({ metadata = {} }: ConfigMap, { isAlive, signal }: StoreCopiesOptions): Promise<boolean> {
  const { ownerReferences: owners = [], namespace = "" } = metadata;
  if (owners.length === 0) return true;
  for (const owner of owners) if (await isAlive(owner, namespace, signal)) return true;
  return false;
}

/**
 * Takes the mark of the collector off a copy and adds the workload to its owners, if either is needed. Returns the error if the copy was
 * changed or deleted meanwhile.
 */
async function takeIntoUse(
  workload: Workload,
  stored: ConfigMap,
  { client, signal, mayBeSent }: StoreCopiesOptions,
): Promise<"used" | Refused | ApiError> {
  const { namespace, name = "", resourceVersion, annotations, ownerReferences: owners = [] } = stored.metadata ?? {};
  const isMarked = annotations?.[unusedSince] !== undefined;
  const owner = ownerOf(workload);
  const ownerReferences = ownersInUse(owners, [owner]);
  if (!isMarked && ownerReferences === undefined) return "used";
  const metadata = {
    resourceVersion,
    ...(isMarked && { annotations: { [unusedSince]: null } }),
    ...(ownerReferences && { ownerReferences }),
  };
  try {
    await client.request({
      method: "PATCH",
      path: resourcePath(resources.configMaps, { namespace, name }),
      query: { fieldManager },
      contentType: "application/merge-patch+json",
      body: { metadata },
      signal,
      mayBeSent,
    });
    return "used";
  } catch (error) {
    const failure = apiFailureOf(error);
    if (failure?.type === "conflict" || failure?.type === "notFound") return failure.error;
    const refusal = refusalOf(error);
    if (refusal === undefined) throw error;
    // Without permission to add an owner, Wave itself still collects the copy. A mark that stays would collect it in use.
    return isMarked ? refusedWrite(`the stored copy ${quoted(name)} cannot be used`, refusal) : "used";
  }
}

/** Returns the reference of a copy to its workload; undefined before the API server has given the workload a uid. */
export function ownerOf({ row, name, uid }: Workload): OwnerReference | undefined {
  return uid === "" ? undefined : { apiVersion: row.apiVersion, kind: row.kind, name, uid };
}

/** Pods cannot read a copy. `why` is one clause without a final period. */
export interface Refused {
  readonly type: "refused";
  readonly why: string;
}

/** Returns that Pods cannot read a copy. */
export function refused(why: string): Refused {
  return { type: "refused", why };
}

/** Returns that a write of a copy was refused. Of the message, only a quota is quoted: the text of an admission plugin may contain values. */
export function refusedWrite(what: string, { type, error }: NonNullable<ReturnType<typeof refusalOf>>): Refused {
  const { reason, status, serverMessage } = error;
  const quota = type === "forbidden" ? /exceeded quota: [^"\n]*/.exec(serverMessage)?.[0].trim() : undefined;
  return refused(`${what}: ${quota ?? (reason === "" ? `status ${status}` : `${reason} (${status})`)}`);
}
