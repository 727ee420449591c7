/** Media type of an object with metadata only: https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches. */
export const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

/** Media type of a list whose objects have metadata only. */
export const metadataOnlyList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
