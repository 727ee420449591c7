/** What JSON can say; fields that are undefined are absent. */
export type Json = string | number | boolean | null | undefined | readonly Json[] | JsonMap;

/** A mapping. */
export interface JsonMap {
  readonly [name: string]: Json;
}

/** Whether a value is a mapping. */
export function isMap(value: Json): value is JsonMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value is a list. */
export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/**
 * By which field the items of a list are told apart, by the name of the list: the `patchMergeKey` of pod specs
 * (https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/). Other lists are replaced as a whole.
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

/** What tells the items of a list of this name apart: undefined where the list is replaced as a whole. */
export function itemKeys(list: string): ((item: Json) => Json) | undefined {
  const key = Object.hasOwn(mergeKeys, list) ? mergeKeys[list] : undefined;
  return key === undefined ? undefined : (item) => (isMap(item) ? item[key] : undefined);
}
