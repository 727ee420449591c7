import type { ConfigMap } from "#kubernetes";
import type { Caches } from "../../cache/caches.ts";
import { toConfig } from "../../domain/config/digest.ts";
import { workloadKey } from "../../domain/model/workload-key.ts";
import { copyContent, copyData, copyName } from "../../domain/pinning/copy-content.ts";
import { referencesTo } from "../../domain/pinning/pinned-lookup.ts";
import { fieldManager } from "../../domain/references/field-managers.ts";
import { isAlreadyExists } from "../../kube/api/errors.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { getIfExists } from "../../kube/reads/get-if-exists.ts";
import { copyObject, editorOf } from "../../pinning/create-copy.ts";
import type { Leadership } from "../../runtime/leadership.ts";
import type { LostCopy } from "./read-uses.ts";

/** What {@link recreateCopy} needs. */
export interface RecreateCopyOptions {
  readonly client: Pick<ApiClient, "request">;
  readonly caches: Pick<Caches, "workload">;
  readonly leadership: Leadership;
}

/**
 * How a lost copy ended. "exists": it was stored after the list. "lost": its source has another content now, or the workload is not known.
 */
export type RecreateResult = "recreated" | "exists" | "lost";

/**
 * Stores a copy again that was deleted while a pod template names it, if the live source still has this content. The name of a copy is made
 * from its content, so the same name is the same content. Rejects with the errors of requests.
 */
export async function recreateCopy(
  namespace: string,
  { row, workload: owner, source, copy }: LostCopy,
  { client, caches, leadership }: RecreateCopyOptions,
): Promise<RecreateResult> {
  const bounds = { signal: leadership.abort, mayBeSent: leadership.valid };
  const read = (name: string) =>
    getIfExists<ConfigMap>(client, { path: resourcePath(resources.configMaps, { namespace, name }), ...bounds });
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
