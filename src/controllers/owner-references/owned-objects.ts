import { configResources } from "../../cache/live/live-configs.ts";
import type { WorkloadRow } from "../../domain/model/kind-row.ts";
import { ownersOf } from "../../domain/owner-references/owner-references.ts";
import { configKey, type StoredKind } from "../../domain/references/references.ts";
import { resourcePath } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { listMetadata } from "../../kube/reads/reads.ts";

const storedKinds = Object.keys(configResources) as readonly StoredKind[];

const pageSize = 50;

/**
 * Returns the keys of all ConfigMaps and Secrets of a namespace that have one of these owners, by owner (`ownerText`). Reads
 * from the API server: caches may be behind, and hold no Helm Secrets. Rejects with the errors of requests.
 */
export async function listOwnedObjects(
  client: Pick<ApiClient, "request">,
  namespace: string,
  owners: ReadonlySet<string>,
  kinds: readonly WorkloadRow[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const objects = new Map<string, string[]>();
  for (const kind of storedKinds) {
    const path = resourcePath(configResources[kind], { namespace });
    for await (const { name, ownerReferences } of listMetadata(client, path, { limit: pageSize }, signal)) {
      for (const owner of ownersOf(ownerReferences, namespace, kinds).workloads) {
        if (!owners.has(owner)) continue;
        const keys = objects.get(owner) ?? [];
        keys.push(configKey({ kind, namespace, name }));
        objects.set(owner, keys);
      }
    }
  }
  return objects;
}
