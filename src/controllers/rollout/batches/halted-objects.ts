import { configResources } from "../../../cache/live/live-configs.ts";
import { parseWorkloadKey } from "../../../domain/model/workload.ts";
import { type ConfigName, isStored } from "../../../domain/references/references.ts";
import { counted, enumerated, quoted } from "../../../domain/syntax/wording.ts";
import type { KubeObject } from "../../../kube/api/api-types.ts";
import { resourcePath, resources } from "../../../kube/api/resources.ts";
import type { ObjectEvent } from "../../../kube/events/event-object.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import type { Logger } from "../../../telemetry/logging/log.ts";

/** A change of an object that is rolled no further in a namespace. */
export interface HaltedChange {
  readonly object: ConfigName;
  readonly namespace: string;
  /** The keys of the workloads that failed. */
  readonly failed: readonly string[];
}

/** The answer is to be the metadata alone: nobody needs the values. */
const onlyMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const timeoutMs = 10_000;
const shownWorkloads = 5;

/**
 * Tells whoever looks after an object, by an Event on it, that its change is halted. The Event needs the uid of the object,
 * by which `kubectl describe` finds it, and which the caches do not keep. Never rejects.
 */
export async function tellOfHalt(
  change: HaltedChange,
  { client, signal, post, log }: HaltedObjectsOptions,
): Promise<void> {
  const { kind, namespace, name } = change.object;
  const { apiVersion, ...resource } = isStored(change.object)
    ? configResources[change.object.kind]
    : resources.secretProviderClasses;
  const { namespace: workloadsIn, failed } = change;
  log.warn("a change is rolled no further", { kind, namespace, name, workloadsIn, failed: failed.length });
  const path = resourcePath({ apiVersion, ...resource }, { namespace, name });
  const uid = await (isStored(change.object) ? uidOf(path, client, signal) : "");
  const regarding = { apiVersion, kind, namespace, name, uid };
  if (!signal.aborted) post({ regarding, type: "Warning", reason: "RolloutHalted", message: describeHalt(change) });
}

/** It is told all the same where this is not known: the object may be gone, and that be the change. */
function uidOf(path: string, client: Pick<ApiClient, "request">, signal: AbortSignal): Promise<string> {
  return client
    .request<KubeObject>({ method: "GET", path, accept: onlyMetadata, timeoutMs, signal })
    .then(({ metadata }) => metadata.uid ?? "")
    .catch(() => "");
}

/** What {@link tellOfHalt} works with. */
export interface HaltedObjectsOptions {
  readonly client: Pick<ApiClient, "request">;
  readonly post: (event: ObjectEvent) => void;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** Who shares an object with a namespace is not told the names of what is in there. */
function describeHalt({ object, namespace, failed }: HaltedChange): string {
  const elsewhere = object.namespace !== namespace;
  const which = elsewhere ? ` in namespace ${quoted(namespace)}` : "";
  const names = enumerated(failed, shownWorkloads, (key) => {
    const { kind, name } = parseWorkloadKey(key);
    return `${kind} ${quoted(name)}`;
  });
  const who = elsewhere || failed.length === 0 ? `${counted(failed.length)} workloads` : names;
  return `its last change is rolled no further${which}: ${who} failed with it; it goes on when the object changes again, when they recover, or by "wave resume"`;
}
