import type { Pod } from "#kubernetes";
import { podSelector } from "../../../domain/pods/pod-selector.ts";
import type { KubeObject } from "../../../kube/api/api-types.ts";
import { resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { listAll } from "../../cluster/requests/list-all.ts";
import { type ReadResult, tryRead } from "../../cluster/requests/read-result.ts";
import type { RunningWave } from "../../cluster/running-wave/running-wave.ts";

/** A Pod of a Wave. */
export type WavePod = KubeObject & Pod;

/** Reads the Pods of the Deployment of a Wave, without those that are being deleted. */
export function readWavePods(
  client: ApiClient,
  { namespace, object }: Pick<RunningWave, "namespace" | "object">,
): Promise<ReadResult<readonly WavePod[]>> {
  const scope = { namespace, labelSelector: podSelector(object.spec?.selector) };
  return tryRead(`list pods in ${namespace}`, () =>
    listAll<WavePod, WavePod>(client, resources.pods, scope, (pod) =>
      pod.metadata.deletionTimestamp ? undefined : pod,
    ),
  );
}

/** Returns the host name of a Pod as its processes see it: of its spec, otherwise its name. The kubelet cuts it after 63 characters. */
export function hostNameOf({ metadata, spec }: WavePod): string {
  return spec?.hostname ?? metadata.name.slice(0, 63).replace(/[-.]+$/, "");
}
