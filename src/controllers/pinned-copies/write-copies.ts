import { toConfig } from "../../domain/config/digest.ts";
import { workloadKey } from "../../domain/model/workload-shape.ts";
import type { CopyAction } from "../../domain/pinning/collect.ts";
import { copyContent, copyData, copyName, referencesTo } from "../../domain/pinning/pinned-lookup.ts";
import { unusedSince } from "../../domain/references/annotations.ts";
import { fieldManager } from "../../domain/references/field-managers.ts";
import { isAlreadyExists, isConflict, isNotFound, refusalOf } from "../../kube/api/api-failure.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import { timestamp } from "../../kube/events/event-object.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import type { Clock } from "../../lib/clock.ts";
import { copyObject, editorOf } from "../../pinning/store-copies.ts";
import { readConfigMap } from "../../pinning/use-copy.ts";
import type { LeaderParts } from "../leader-context.ts";
import type { LostCopy } from "./read-uses.ts";

/**
 * Carries out an action on a copy, only if the copy is as it was read. Each write that takes a copy into use changes its resourceVersion,
 * so a deletion that was decided before fails. Nothing is written if the result is "changed" (the copy is no longer as it was read, or is gone)
 * or "refused", for example by an admission policy. Rejects with the other errors of requests.
 */
export async function writeCopy(
  namespace: string,
  action: CopyAction,
  { client, clock, leadership }: LeaderParts<"client" | "clock" | "leadership">,
): Promise<"marked" | "used" | "deleted" | "changed" | "refused"> {
  const path = resourcePath(resources.configMaps, { namespace, name: action.copy.name });
  const bounds = { path, signal: leadership.abort, mayBeSent: leadership.valid };
  try {
    await client.request({ ...requestOf(action, clock), ...bounds });
    return results[action.type];
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return "changed";
    if (refusalOf(error) !== undefined) return "refused";
    throw error;
  }
}

const results = { mark: "marked", use: "used", delete: "deleted" } as const;

function requestOf(action: CopyAction, clock: Clock): Omit<ApiRequest, "path"> {
  const { uid, resourceVersion } = action.copy;
  switch (action.type) {
    case "mark":
      return mergePatch({ uid, resourceVersion, annotations: { [unusedSince]: timestamp(clock) } });
    case "use": {
      const { owners } = action;
      const metadata = { uid, resourceVersion, annotations: { [unusedSince]: null } };
      return mergePatch(owners === undefined ? metadata : { ...metadata, ownerReferences: owners });
    }
    case "delete":
      return { method: "DELETE", body: { preconditions: { uid, resourceVersion } } };
  }
}

function mergePatch(metadata: object): Omit<ApiRequest, "path"> {
  const contentType = "application/merge-patch+json";
  return { method: "PATCH", query: { fieldManager }, contentType, body: { metadata } };
}

/**
 * Stores a copy again that was deleted while a pod template names it, if the live source still has this content. The name of a copy is made
 * from its content, so the same name is the same content. Returns "exists" if it was stored after the list, "lost" if its source has another content now or the
 * workload is not known. Rejects with the errors of requests.
 */
export async function recreateCopy(
  namespace: string,
  { row, workload: owner, source, copy }: LostCopy,
  { client, caches, leadership }: LeaderParts<"client" | "leadership", "workload">,
): Promise<"recreated" | "exists" | "lost"> {
  const bounds = { signal: leadership.abort, mayBeSent: leadership.valid };
  const read = (name: string) => readConfigMap(namespace, name, { client, ...bounds });
  if ((await read(copy)) !== undefined) return "exists";
  const workload = caches.workload(workloadKey({ kind: row.id, namespace, name: owner.name }));
  if (workload?.uid !== owner.uid) return "lost";
  const references = referencesTo(workload, source);
  const live = await read(source);
  const content = copyContent(references, live && toConfig("ConfigMap", live));
  const names = [copyName(source, content, 10), copyName(source, content, 20)];
  if (references.length === 0 || !names.includes(copy)) return "lost";
  const body = copyObject({ namespace, name: source }, copy, {
    data: copyData(live, content),
    editor: editorOf(live),
    owner,
  });
  const path = resourcePath(resources.configMaps, { namespace });
  try {
    await client.request({ method: "POST", path, query: { fieldManager }, body, ...bounds });
    return "recreated";
  } catch (error) {
    if (isAlreadyExists(error)) return "exists";
    throw error;
  }
}
