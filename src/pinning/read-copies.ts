import type { ConfigMap } from "#kubernetes";
import type { StoredCopy } from "../domain/pinning/collect.ts";
import { pinnedCopyLabel, unusedSince } from "../domain/references/annotations.ts";
import type { KubeObject } from "../kube/api/api-types.ts";
import { resources } from "../kube/api/resources.ts";
import { metadataOnlyList } from "../kube/list-watch/paged-list.ts";
import { type FreshListOptions, freshList } from "./fresh-list.ts";

const labelSelector = `${pinnedCopyLabel}=true`;

/** Reads the pinned copies of a namespace, without those that are being deleted. Keeps their sizes, not their content. */
export async function readCopies(namespace: string, options: FreshListOptions): Promise<readonly StoredCopy[]> {
  const copies: StoredCopy[] = [];
  for await (const object of freshList<KubeObject & ConfigMap>(resources.configMaps, namespace, options, {
    labelSelector,
  })) {
    const { name, uid, resourceVersion, creationTimestamp, deletionTimestamp, ownerReferences, annotations } =
      object.metadata;
    if (deletionTimestamp) continue;
    copies.push({
      name,
      uid,
      resourceVersion,
      createdAt: creationTimestamp ?? "",
      bytes: bytesOf(object.data) + bytesOf(object.binaryData),
      owners: ownerReferences ?? [],
      unusedSince: annotations?.[unusedSince],
    });
  }
  return copies;
}

/** Returns the namespaces that have pinned copies. */
export async function readNamespacesWithCopies(options: FreshListOptions): Promise<ReadonlySet<string>> {
  const namespaces = new Set<string>();
  const query = { labelSelector, accept: metadataOnlyList };
  for await (const { metadata } of freshList<KubeObject>(resources.configMaps, undefined, options, query)) {
    if (metadata.namespace) namespaces.add(metadata.namespace);
  }
  return namespaces;
}

function bytesOf(map: Readonly<Record<string, string>> | null | undefined): number {
  let bytes = 0;
  for (const [key, value] of Object.entries(map ?? {})) bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  return bytes;
}
