import { configResources } from "../../cache/live/live-configs.ts";
import type { WorkloadRow } from "../../domain/model/kind-row.ts";
import { ownersOf } from "../../domain/owner-references/owners.ts";
import { configKey, type StoredKind } from "../../domain/references/references.ts";
import type { KubeList, KubeObject } from "../../kube/api/api-types.ts";
import { resourcePath } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";

const storedKinds = Object.keys(configResources) as readonly StoredKind[];

/** Without a value, and without what it is in: 1 MiB may be in each. */
const onlyMetadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
/** Their metadata may be 300 kB each all the same. */
const atOnce = 50;

/**
 * The keys of all ConfigMaps and Secrets of a namespace that have one of these owners, by owner (`ownerText`), as they are
 * stored at this moment: caches may be behind, and hold no Secrets of Helm's. Throws what requests throw.
 */
export async function listCarriers(
  client: Pick<ApiClient, "request">,
  namespace: string,
  owners: ReadonlySet<string>,
  kinds: readonly WorkloadRow[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const carriers = new Map<string, string[]>();
  for (const kind of storedKinds) {
    for await (const { metadata } of listAll(client, kind, namespace, signal)) {
      for (const owner of ownersOf(metadata.ownerReferences, namespace, kinds).workloads) {
        if (!owners.has(owner)) continue;
        const keys = carriers.get(owner) ?? [];
        keys.push(configKey({ kind, namespace, name: metadata.name }));
        carriers.set(owner, keys);
      }
    }
  }
  return carriers;
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
    const query = { limit: atOnce, continue: next };
    const page: KubeList<KubeObject> = await client.request({
      method: "GET",
      path,
      query,
      accept: onlyMetadata,
      signal,
    });
    yield* page.items ?? [];
    next = page.metadata.continue || undefined;
  } while (next !== undefined);
}
