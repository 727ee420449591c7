/** When a write raises `metadata.generation`: with any of these fields. Undefined: the kind has no generation. */
type GenerationFields = readonly ("spec" | "annotations" | "webhooks")[];

/** One kind of the API, as discovery lists it and as requests name it. */
export interface SandboxResource {
  /** "" for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly namespaced: boolean;
  /** Whether `kubectl get all` shows it. */
  readonly inAll: boolean;
  readonly subresources: readonly ("status" | "scale")[];
  /** Fields at the root of the object in addition to apiVersion, kind and metadata. The kind has no other fields. */
  readonly fields: readonly string[];
  /** https://github.com/kubernetes/community/blob/main/contributors/devel/sig-architecture/api-conventions.md#metadata */
  readonly generation: GenerationFields | undefined;
  /** The fields that a field selector may name, in addition to metadata.name and metadata.namespace. */
  readonly selectableFields: readonly string[];
}

type Row = Pick<SandboxResource, "kind" | "plural" | "fields"> & Partial<SandboxResource>;

function resource(row: Row): SandboxResource {
  return {
    group: "",
    version: "v1",
    singular: row.kind.toLowerCase(),
    shortNames: [],
    namespaced: true,
    inAll: false,
    subresources: [],
    generation: undefined,
    selectableFields: [],
    ...row,
  };
}

function workload(row: Row): SandboxResource {
  return resource({ group: "apps", inAll: true, subresources: ["status", "scale"], generation: ["spec"], ...row });
}

const eventFields = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];

/** Every kind that the sandbox serves. */
export const resources = {
  configMaps: resource({
    kind: "ConfigMap",
    plural: "configmaps",
    shortNames: ["cm"],
    fields: ["data", "binaryData", "immutable"],
  }),
  events: resource({
    kind: "Event",
    plural: "events",
    shortNames: ["ev"],
    fields: [
      ...["involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count", "type"],
      ...["eventTime", "series", "action", "related", "reportingComponent", "reportingInstance"],
    ],
    selectableFields: [
      ...eventFields.map((field) => `involvedObject.${field}`),
      ...["reason", "reportingComponent", "source", "type"],
    ],
  }),
  namespaces: resource({
    kind: "Namespace",
    plural: "namespaces",
    shortNames: ["ns"],
    namespaced: false,
    subresources: ["status"],
    fields: ["spec", "status"],
    selectableFields: ["status.phase"],
  }),
  nodes: resource({
    kind: "Node",
    plural: "nodes",
    shortNames: ["no"],
    namespaced: false,
    subresources: ["status"],
    fields: ["spec", "status"],
    selectableFields: ["spec.unschedulable"],
  }),
  pods: resource({
    kind: "Pod",
    plural: "pods",
    shortNames: ["po"],
    inAll: true,
    subresources: ["status"],
    generation: ["spec"],
    fields: ["spec", "status"],
    selectableFields: [
      ...["spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName"],
      ...["spec.hostNetwork", "status.phase", "status.podIP", "status.nominatedNodeName"],
    ],
  }),
  secrets: resource({
    kind: "Secret",
    plural: "secrets",
    fields: ["data", "stringData", "type", "immutable"],
    selectableFields: ["type"],
  }),
  services: resource({
    kind: "Service",
    plural: "services",
    shortNames: ["svc"],
    inAll: true,
    subresources: ["status"],
    fields: ["spec", "status"],
    selectableFields: ["spec.clusterIP", "spec.type"],
  }),
  controllerRevisions: resource({
    group: "apps",
    kind: "ControllerRevision",
    plural: "controllerrevisions",
    fields: ["data", "revision"],
  }),
  daemonSets: workload({
    kind: "DaemonSet",
    plural: "daemonsets",
    shortNames: ["ds"],
    subresources: ["status"],
    fields: ["spec", "status"],
  }),
  deployments: workload({
    kind: "Deployment",
    plural: "deployments",
    shortNames: ["deploy"],
    generation: ["spec", "annotations"],
    fields: ["spec", "status"],
  }),
  replicaSets: workload({
    kind: "ReplicaSet",
    plural: "replicasets",
    shortNames: ["rs"],
    fields: ["spec", "status"],
    selectableFields: ["status.replicas"],
  }),
  statefulSets: workload({
    kind: "StatefulSet",
    plural: "statefulsets",
    shortNames: ["sts"],
    fields: ["spec", "status"],
  }),
  widgets: workload({
    group: "example.com",
    kind: "Widget",
    plural: "widgets",
    inAll: false,
    subresources: ["status"],
    fields: ["spec", "status"],
  }),
  leases: resource({ group: "coordination.k8s.io", kind: "Lease", plural: "leases", fields: ["spec"] }),
  mutatingWebhookConfigurations: resource({
    group: "admissionregistration.k8s.io",
    kind: "MutatingWebhookConfiguration",
    plural: "mutatingwebhookconfigurations",
    namespaced: false,
    generation: ["webhooks"],
    fields: ["webhooks"],
  }),
} as const satisfies Record<string, SandboxResource>;

/** The same rows as a list. */
export const allResources: readonly SandboxResource[] = Object.values(resources);

/** Without the kinds of a CustomResourceDefinition, which are served only on request. */
export const builtInResources = allResources.filter((row) => row !== resources.widgets);

/** Returns the `apiVersion` of objects of this kind, for example `v1` or `apps/v1`. */
export function apiVersionOf({ group, version }: SandboxResource): string {
  return group === "" ? version : `${group}/${version}`;
}

/** Returns the name of a kind for messages, for example `configmaps` or `deployments.apps`. */
export function qualifiedPlural({ group, plural }: SandboxResource): string {
  return group === "" ? plural : `${plural}.${group}`;
}
