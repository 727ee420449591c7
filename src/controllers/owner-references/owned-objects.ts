import { configResources } from "../../cache/live/live-configs.ts";
import type { WorkloadRow } from "../../domain/model/kind-row.ts";
import { ownersOf } from "../../domain/owner-references/owner-references.ts";
import { configKey, type StoredKind } from "../../domain/references/references.ts";
import { type KubeList, type KubeObject, metadataOnlyList, resourcePath } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";

const storedKinds = Object.keys(configResources) as readonly StoredKind[];

/** The objects of one page: the metadata of each may have 300 kB. */
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
    for await (const { metadata } of listAll(client, kind, namespace, signal)) {
      for (const owner of ownersOf(metadata.ownerReferences, namespace, kinds).workloads) {
        if (!owners.has(owner)) continue;
        const keys = objects.get(owner) ?? [];
        keys.push(configKey({ kind, namespace, name: metadata.name }));
        objects.set(owner, keys);
      }
    }
  }
  return objects;
}

async function* listAll(
  client: Pick<ApiClient, "request">,
  kind: StoredKind,
  namespace: string,
  signal: AbortSignal,
): AsyncGenerator<KubeObject> {
  const path = resourcePath(configResources[kind], { namespace });
  let next: string | undefined;
  do {
    const query = { limit: pageSize, continue: next };
    const page: KubeList<KubeObject> = await client.request({
      method: "GET",
      path,
      query,
      accept: metadataOnlyList,
      signal,
    });
    yield* page.items ?? [];
    next = page.metadata.continue || undefined;
  } while (next !== undefined);
}
