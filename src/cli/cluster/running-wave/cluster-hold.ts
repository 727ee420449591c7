import { type ClusterHold, readClusterHold } from "../../../domain/policy/cluster-hold.ts";
import type { KubeObject } from "../../../kube/api/api-types.ts";
import { ApiError } from "../../../kube/api/errors.ts";
import { resourcePath, resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { getIfExists } from "../../../kube/reads/get-if-exists.ts";
import type { RunningWave } from "./running-wave.ts";

/**
 * Reads the first hold of every rollout that applies to one of these Waves; undefined if there is none, or if the user lacks permission to
 * read their Namespaces. Throws if the API server does not answer.
 */
export async function readClusterHoldOf(
  client: Pick<ApiClient, "request">,
  waves: readonly Pick<RunningWave, "namespace">[],
): Promise<ClusterHold | undefined> {
  for (const namespace of new Set(waves.map((wave) => wave.namespace))) {
    const reason = readClusterHold((await readNamespace(client, namespace))?.metadata.annotations);
    if (reason !== undefined) return { namespace, reason };
  }
  return undefined;
}

async function readNamespace(client: Pick<ApiClient, "request">, name: string): Promise<KubeObject | undefined> {
  try {
    return await getIfExists<KubeObject>(client, { path: resourcePath(resources.namespaces, { name }) });
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
