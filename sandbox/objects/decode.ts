import { isObject, type Json, type JsonObject, listOf, objectOf, valueAt, without } from "./json.ts";
import { normalized } from "./normalize.ts";
import { apiVersionOf, type SandboxResource } from "./resources.ts";
import { badRequest, type StatusError } from "./status-error.ts";

/** What a client sent, without fields that its kind does not have. */
export interface Decoded {
  readonly object: JsonObject;
  /** Paths of the fields that were dropped. */
  readonly unknown: readonly string[];
}

const metadataFields = [
  ...["name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp"],
  ...["deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences", "finalizers"],
  "managedFields",
];

const workloadSpecFields: { readonly [kind: string]: readonly string[] } = {
  Deployment: [
    ...["replicas", "selector", "template", "strategy", "minReadySeconds", "revisionHistoryLimit", "paused"],
    "progressDeadlineSeconds",
  ],
  StatefulSet: [
    ...["replicas", "selector", "template", "volumeClaimTemplates", "serviceName", "podManagementPolicy"],
    ...[
      "updateStrategy",
      "revisionHistoryLimit",
      "minReadySeconds",
      "persistentVolumeClaimRetentionPolicy",
      "ordinals",
    ],
  ],
  DaemonSet: ["selector", "template", "updateStrategy", "minReadySeconds", "revisionHistoryLimit"],
  ReplicaSet: ["replicas", "selector", "template", "minReadySeconds"],
};

const containerFields = [
  ...["name", "image", "command", "args", "workingDir", "ports", "envFrom", "env", "resources", "resizePolicy"],
  ...["restartPolicy", "restartPolicyRules", "volumeMounts", "volumeDevices", "livenessProbe", "readinessProbe"],
  ...["startupProbe", "lifecycle", "terminationMessagePath", "terminationMessagePolicy", "imagePullPolicy"],
  ...["securityContext", "stdin", "stdinOnce", "tty"],
];

/**
 * Reads an object of this kind: drops unknown fields where this server knows the fields (the root, metadata, a workload's
 * spec and its containers), nulls and empty maps. Throws 400 where the kind is another, or a map of strings holds
 * something else, such as a label `true` without quotes.
 */
export function decode(resource: SandboxResource, body: Json): Decoded {
  const object = objectOf(body);
  const { kind, apiVersion } = object;
  if (!isObject(body) || (kind !== undefined && kind !== resource.kind)) throw wrongKind(resource, object);
  if (apiVersion !== undefined && apiVersion !== apiVersionOf(resource)) throw wrongKind(resource, object);
  checkStrings(resource, object);
  const dropped = Object.keys(object).filter(
    (field) => !["kind", "apiVersion", "metadata", ...resource.fields].includes(field),
  );
  const unknown = [
    ...dropped,
    ...unknownIn("metadata", object.metadata, metadataFields),
    ...unknownInSpec(resource, object),
  ];
  const known = without(object, ...dropped);
  const complete = { ...known, kind: resource.kind, apiVersion: apiVersionOf(resource) };
  return { object: normalized(resource.kind, complete), unknown };
}

function wrongKind(resource: SandboxResource, { kind, apiVersion }: JsonObject): StatusError {
  const sent = kind === undefined ? "this body" : `${kind} in version ${JSON.stringify(apiVersion ?? "")}`;
  return badRequest(`${sent} cannot be handled as a ${resource.kind}`);
}

function unknownIn(path: string, value: Json | undefined, known: readonly string[]): string[] {
  return Object.keys(objectOf(value))
    .filter((field) => !known.includes(field))
    .map((field) => `${path}.${field}`);
}

function unknownInSpec({ kind }: SandboxResource, object: JsonObject): string[] {
  const known = workloadSpecFields[kind];
  if (known === undefined) return kind === "Pod" ? unknownInContainers("spec", object.spec) : [];
  const podSpec = valueAt(object, "spec", "template", "spec");
  return [...unknownIn("spec", object.spec, known), ...unknownInContainers("spec.template.spec", podSpec)];
}

function unknownInContainers(path: string, podSpec: Json | undefined): string[] {
  return ["initContainers", "containers"].flatMap((field) =>
    listOf(objectOf(podSpec)[field]).flatMap((container, index) =>
      unknownIn(`${path}.${field}[${index}]`, container, containerFields),
    ),
  );
}

/** Names field and type, never the value: it may be a Secret's. */
function checkStrings(resource: SandboxResource, object: JsonObject): void {
  const maps: [string, Json | undefined][] = [
    ["metadata.labels", valueAt(object, "metadata", "labels")],
    ["metadata.annotations", valueAt(object, "metadata", "annotations")],
    ["spec.template.metadata.labels", valueAt(object, "spec", "template", "metadata", "labels")],
    ["spec.template.metadata.annotations", valueAt(object, "spec", "template", "metadata", "annotations")],
  ];
  if (resource.kind === "ConfigMap" || resource.kind === "Secret") {
    for (const field of ["data", "binaryData", "stringData"]) maps.push([field, object[field]]);
  }
  for (const [path, map] of maps) {
    for (const value of Object.values(objectOf(map))) {
      if (typeof value === "string" || value === null || value === undefined) continue;
      const found = typeof value === "boolean" ? "bool" : typeof value;
      const why = `json: cannot unmarshal ${found} into Go struct field ${resource.kind}.${path} of type string`;
      const version = JSON.stringify(apiVersionOf(resource));
      throw badRequest(`${resource.kind} in version ${version} cannot be handled as a ${resource.kind}: ${why}`);
    }
  }
}
