import { configResources } from "../../../cache/live/live-configs.ts";
import type { Workload } from "../../../domain/model/workload.ts";
import { type ConfigName, isStored } from "../../../domain/references/references.ts";
import { type KubeObject, metadataOnly } from "../../../kube/api/api-types.ts";
import { resourcePath, resources } from "../../../kube/api/resources.ts";
import type { ObjectEvent } from "../../../kube/events/event-object.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { returnedChangeEvent, type WorkloadEvent } from "./event-texts.ts";

const timeoutMs = 10_000;

/** What {@link postConfigEvent} needs. */
export interface ConfigEventOptions {
  readonly client: Pick<ApiClient, "request">;
  readonly post: (event: ObjectEvent) => void;
  readonly signal: AbortSignal;
}

/**
 * Posts an Event on an object of configuration. The Event needs the uid of the object, by which `kubectl describe` finds the Event; the caches
 * do not keep the uid. Never rejects.
 */
export async function postConfigEvent(
  object: ConfigName,
  event: WorkloadEvent,
  { client, post, signal }: ConfigEventOptions,
): Promise<void> {
  const { kind, namespace, name } = object;
  const { apiVersion, ...resource } = isStored(object) ? configResources[object.kind] : resources.secretProviderClasses;
  const path = resourcePath({ apiVersion, ...resource }, { namespace, name });
  const uid = await (isStored(object) ? uidOf(path, client, signal) : "");
  if (!signal.aborted) post({ regarding: { apiVersion, kind, namespace, name, uid }, ...event });
}

/** Limit of the ConfigMaps on which one return is reported. The Event on the workload names the number of all of them. */
const maxReturned = 5;

/** Posts on ConfigMaps that a workload does not read their last change any more, because its rollout failed. */
export function postReturn(workload: Workload, names: readonly string[], options: ConfigEventOptions): void {
  const { namespace } = workload;
  for (const name of names.slice(0, maxReturned))
    void postConfigEvent({ kind: "ConfigMap", namespace, name }, returnedChangeEvent(workload), options);
}

/** Returns "" if the uid cannot be read: the object may be deleted, and the deletion may be the change. */
function uidOf(path: string, client: Pick<ApiClient, "request">, signal: AbortSignal): Promise<string> {
  return client
    .request<KubeObject>({ method: "GET", path, accept: metadataOnly, timeoutMs, signal })
    .then(({ metadata }) => metadata.uid ?? "")
    .catch(() => "");
}
