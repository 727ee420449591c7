// Made by `bin/node test/control-plane/write-api-types.ts` from the OpenAPI of the API server that the tests run on.
// The fields are documented at https://kubernetes.io/docs/reference/kubernetes-api/.

/** The keys that identify the items of a list. */
export interface ListKeys {
  /** The key of a strategic merge patch; absent if such a patch replaces the list. */
  readonly patch?: string;
  /** The keys of server-side apply. */
  readonly apply: readonly string[];
}

/** The lists whose items have keys, by the name of the field. The items of two lists with one name have different keys. */
export const listKeys: { readonly [field: string]: readonly ListKeys[] } = {
  allocatedResourcesStatus: [{ patch: "name", apply: ["name"] }],
  claims: [{ apply: ["name"] }],
  conditions: [{ patch: "type", apply: ["type"] }],
  containers: [{ patch: "name", apply: ["name"] }],
  env: [{ patch: "name", apply: ["name"] }],
  ephemeralContainers: [{ patch: "name", apply: ["name"] }],
  hostAliases: [{ patch: "ip", apply: ["ip"] }],
  imagePullSecrets: [{ patch: "name", apply: ["name"] }],
  initContainers: [{ patch: "name", apply: ["name"] }],
  matchConditions: [{ patch: "name", apply: ["name"] }],
  ownerReferences: [{ patch: "uid", apply: ["uid"] }],
  podIPs: [{ patch: "ip", apply: ["ip"] }],
  ports: [
    { patch: "containerPort", apply: ["containerPort", "protocol"] },
    { patch: "port", apply: ["port", "protocol"] },
  ],
  resourceClaimStatuses: [{ patch: "name", apply: ["name"] }],
  resourceClaims: [{ patch: "name", apply: ["name"] }],
  resources: [{ apply: ["resourceID"] }],
  schedulingGates: [{ patch: "name", apply: ["name"] }],
  topologySpreadConstraints: [{ patch: "topologyKey", apply: ["topologyKey", "whenUnsatisfiable"] }],
  volumeDevices: [{ patch: "devicePath", apply: ["devicePath"] }],
  volumeMounts: [{ patch: "mountPath", apply: ["mountPath"] }],
  volumes: [{ patch: "name", apply: ["name"] }],
  webhooks: [{ patch: "name", apply: ["name"] }],
};
