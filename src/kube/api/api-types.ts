import type { ObjectMeta as OptionalObjectMeta, Status as ServerStatus } from "#kubernetes";

/** Metadata of a stored object. It always has a name, a uid and a resourceVersion. */
export interface ObjectMeta extends Omit<OptionalObjectMeta, "name" | "uid" | "resourceVersion"> {
  readonly name: string;
  readonly uid: string;
  /** Opaque: compare for equality only (https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions). */
  readonly resourceVersion: string;
}

/** Fields of every API object. Items of a list have neither `apiVersion` nor `kind`. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

/** A page of a list (https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks). */
export interface KubeList<T extends KubeObject> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly T[] | null;
}

/** A failure that the API server reports, as the body of a response or as the object of an `ERROR` watch event. */
export type Status = ServerStatus;

/** One line of a watch (https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes). */
export type WatchEvent<T extends KubeObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly object: KubeObject }
  | { readonly type: "ERROR"; readonly object: Status };

/** Media type of an object with metadata only: https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches. */
export const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

/** Media type of a list whose objects have metadata only. */
export const metadataOnlyList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
