/** Any JSON value; a field that is undefined is absent. */
export type Json = string | number | boolean | null | undefined | readonly Json[] | JsonMap;

/** A mapping. */
export interface JsonMap {
  readonly [name: string]: Json;
}

/** Reports whether a value is a mapping. */
export function isMap(value: Json): value is JsonMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reports whether a value is a list. */
export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/**
 * The merge keys of lists, by the name of the list: the `patchMergeKey` of pod specs
 * (https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/). All other lists are replaced as a whole.
 */
const mergeKeys: Readonly<Record<string, string>> = {
  containers: "name",
  initContainers: "name",
  ephemeralContainers: "name",
  env: "name",
  volumes: "name",
  volumeMounts: "mountPath",
  volumeDevices: "devicePath",
  ports: "containerPort",
  imagePullSecrets: "name",
  resourceClaims: "name",
  hostAliases: "ip",
  topologySpreadConstraints: "topologyKey",
};

/** Returns the function that reads the merge key of an item; undefined if the list is replaced as a whole. */
export function itemKeys(list: string): ((item: Json) => Json) | undefined {
  const key = Object.hasOwn(mergeKeys, list) ? mergeKeys[list] : undefined;
  return key === undefined ? undefined : (item) => (isMap(item) ? item[key] : undefined);
}
