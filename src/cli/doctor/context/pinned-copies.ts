import type { Pod } from "#kubernetes";
import { configMapsOf } from "../../../domain/pinning/pod-pins.ts";
import { pinnedCopyLabel } from "../../../domain/references/annotations.ts";
import { type KubeObject, metadataOnlyList } from "../../../kube/api/api-types.ts";
import { resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { listAll } from "../../cluster/requests/list-all.ts";
import { mapBounded } from "../../cluster/requests/map-bounded.ts";
import { inScope, type ReadResult, tryRead } from "../../cluster/requests/read-result.ts";

/** The pinned copies of one namespace or of all. */
export interface PinnedCopies {
  readonly count: number;
  /** The number of namespaces with copies. */
  readonly namespaces: number;
  /** The number of Pods whose spec references a copy. */
  readonly readers: number;
}

/** Counts the pinned copies and the Pods that read them. Reads only the metadata of the copies. */
export async function readPinnedCopies(
  client: ApiClient,
  namespace: string | undefined,
): Promise<ReadResult<PinnedCopies>> {
  const scope = { namespace, labelSelector: `${pinnedCopyLabel}=true`, accept: metadataOnlyList };
  const copies = await tryRead(`list configmaps ${inScope(namespace)}`, () =>
    listAll<KubeObject, KubeObject["metadata"]>(client, resources.configMaps, scope, ({ metadata }) => metadata),
  );
  if ("unread" in copies) return copies;
  const inNamespace = Map.groupBy(copies.read, (copy) => copy.namespace ?? "");
  const readers = await tryRead(`list pods ${inScope(namespace)}`, () =>
    mapBounded([...inNamespace], ([each, stored]) =>
      countReaders(client, each, new Set(stored.map(({ name }) => name))),
    ),
  );
  if ("unread" in readers) return readers;
  const total = readers.read.reduce((sum, each) => sum + each, 0);
  return { read: { count: copies.read.length, namespaces: inNamespace.size, readers: total } };
}

async function countReaders(client: ApiClient, namespace: string, copies: ReadonlySet<string>): Promise<number> {
  const readers = await listAll<KubeObject & Pod, true>(client, resources.pods, { namespace }, ({ spec }) =>
    configMapsOf(spec).isDisjointFrom(copies) ? undefined : true,
  );
  return readers.length;
}
