/** The keys that identify the items of a list when two versions of it are merged. */
export type ListMerge =
  /** Items with the same values in these fields are the same item. */
  | { readonly type: "map"; readonly keys: readonly string[]; readonly defaults?: { readonly [key: string]: string } }
  /** Values, each at most once. */
  | { readonly type: "set" }
  /** The list is replaced as a whole. */
  | { readonly type: "atomic" };

const atomic: ListMerge = { type: "atomic" };

const mapLists: { readonly [field: string]: ListMerge } = {
  containers: { type: "map", keys: ["name"] },
  initContainers: { type: "map", keys: ["name"] },
  ephemeralContainers: { type: "map", keys: ["name"] },
  env: { type: "map", keys: ["name"] },
  volumes: { type: "map", keys: ["name"] },
  volumeMounts: { type: "map", keys: ["mountPath"] },
  volumeDevices: { type: "map", keys: ["devicePath"] },
  imagePullSecrets: { type: "map", keys: ["name"] },
  hostAliases: { type: "map", keys: ["ip"] },
  resourceClaims: { type: "map", keys: ["name"] },
  topologySpreadConstraints: { type: "map", keys: ["topologyKey", "whenUnsatisfiable"] },
  conditions: { type: "map", keys: ["type"] },
  podIPs: { type: "map", keys: ["ip"] },
  ownerReferences: { type: "map", keys: ["uid"] },
  webhooks: { type: "map", keys: ["name"] },
  matchConditions: { type: "map", keys: ["name"] },
  finalizers: { type: "set" },
};

/**
 * How the API merges the list in this field. Names suffice: among the sandbox's kinds no name has two rules but `ports`,
 * which a container keys by `containerPort` and a Service by `port`.
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy
 */
export function listMerge(field: string, items: readonly unknown[]): ListMerge {
  if (field !== "ports") return mapLists[field] ?? atomic;
  const ofContainer = items.some((item) => typeof item === "object" && item !== null && "containerPort" in item);
  return { type: "map", keys: [ofContainer ? "containerPort" : "port", "protocol"], defaults: { protocol: "TCP" } };
}

/** Objects that belong to one field manager as a whole, by the name of their field. */
const atomicObjects = new Set([
  ...["selector", "fieldRef", "configMapKeyRef", "secretKeyRef", "resourceFieldRef", "involvedObject", "related"],
  ...["nodeSelector", "labelSelector", "namespaceSelector", "objectSelector", "series", "source"],
]);

/** Whether the object in this field is owned as a whole rather than field by field. */
export function isAtomicObject(field: string): boolean {
  return atomicObjects.has(field);
}
