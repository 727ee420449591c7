import type { ConfigMap } from "#kubernetes";
import { contentBytes, toConfig } from "../domain/config/digest.ts";
import type { StoredCopy } from "../domain/pinning/collect.ts";
import { isNamedByContent } from "../domain/pinning/copy-content.ts";
import { pinnedCopyLabel, unusedSince } from "../domain/references/annotations.ts";
import type { KubeObject } from "../kube/api/api-types.ts";
import { metadataOnlyList } from "../kube/api/media-types.ts";
import { resources } from "../kube/api/resources.ts";
import { type FreshListOptions, freshList } from "../kube/reads/fresh-list.ts";

const labelSelector = `${pinnedCopyLabel}=true`;

/**
 * Reads the pinned copies of a namespace, without those that are being deleted. Keeps their sizes, not their content. An object that only has
 * the label is left out: otherwise Wave would delete it for a client that may write labels and delete nothing.
 */
export async function readCopies(namespace: string, options: FreshListOptions): Promise<readonly StoredCopy[]> {
  const copies: StoredCopy[] = [];
  for await (const object of freshList<KubeObject & ConfigMap>(resources.configMaps, namespace, options, {
    labelSelector,
  })) {
    const { name, uid, resourceVersion, creationTimestamp, deletionTimestamp, ownerReferences, annotations } =
      object.metadata;
    if (deletionTimestamp || !object.immutable || !isNamedByContent(toConfig("ConfigMap", object))) continue;
    copies.push({
      name,
      uid,
      resourceVersion,
      createdAt: creationTimestamp ?? "",
      bytes: contentBytes(object),
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
