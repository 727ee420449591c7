import { configResources } from "../../../cache/live/live-configs.ts";
import { parseWorkloadKey } from "../../../domain/model/workload.ts";
import { type ConfigName, isStored } from "../../../domain/references/references.ts";
import { formatCount, formatList, quoted } from "../../../domain/syntax/wording.ts";
import type { KubeObject } from "../../../kube/api/api-types.ts";
import { resourcePath, resources } from "../../../kube/api/resources.ts";
import type { ObjectEvent } from "../../../kube/events/event-object.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import type { Logger } from "../../../telemetry/logging/log.ts";
import { logMessages } from "../../../telemetry/logging/log-messages.ts";
import { haltedChangeEvent } from "../report/event-texts.ts";

/** The halted change of an object in one namespace. */
export interface HaltedChange {
  readonly object: ConfigName;
  readonly namespace: string;
  /** The keys of the failed workloads. */
  readonly failed: readonly string[];
}

/** Requests only the metadata: the values are not needed. */
const onlyMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const timeoutMs = 10_000;
const shownWorkloads = 5;

/** What {@link reportHalt} needs. */
export interface HaltReportOptions {
  readonly client: Pick<ApiClient, "request">;
  readonly post: (event: ObjectEvent) => void;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/**
 * Reports a halted change by an Event on its object. The Event needs the uid of the object, by which `kubectl describe`
 * finds the Event; the caches do not keep the uid. Never rejects.
 */
export async function reportHalt(
  change: HaltedChange,
  { client, signal, post, log }: HaltReportOptions,
): Promise<void> {
  const { kind, namespace, name } = change.object;
  const { apiVersion, ...resource } = isStored(change.object)
    ? configResources[change.object.kind]
    : resources.secretProviderClasses;
  const { namespace: workloadsIn, failed } = change;
  log.warn(logMessages.changeHalted, { kind, namespace, name, workloadsIn, failed: failed.length });
  const path = resourcePath({ apiVersion, ...resource }, { namespace, name });
  const uid = await (isStored(change.object) ? uidOf(path, client, signal) : "");
  const regarding = { apiVersion, kind, namespace, name, uid };
  if (!signal.aborted) post({ regarding, ...eventOf(change) });
}

/** Returns "" if the uid cannot be read: the object may be deleted, and the deletion may be the halted change. */
function uidOf(path: string, client: Pick<ApiClient, "request">, signal: AbortSignal): Promise<string> {
  return client
    .request<KubeObject>({ method: "GET", path, accept: onlyMetadata, timeoutMs, signal })
    .then(({ metadata }) => metadata.uid ?? "")
    .catch(() => "");
}

/** Returns the Event. In another namespace it has no names of workloads: the owner of the object may not know them. */
function eventOf({ object, namespace, failed }: HaltedChange) {
  const isElsewhere = object.namespace !== namespace;
  const names = formatList(failed, shownWorkloads, (key) => {
    const { kind, name } = parseWorkloadKey(key);
    return `${kind} ${quoted(name)}`;
  });
  const workloads = isElsewhere || failed.length === 0 ? `${formatCount(failed.length)} workloads` : names;
  return haltedChangeEvent({ object, workloads, namespace: isElsewhere ? namespace : undefined });
}
