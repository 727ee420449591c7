import { isList, isObject, type Json, type JsonObject, listOf, objectOf, stringOf } from "./json.ts";

/** Returns the object with the API server's defaults in the fields that the client left out. */
export function withDefaults(kind: string, object: JsonObject): JsonObject {
  switch (kind) {
    case "Deployment":
      return { ...object, spec: deploymentSpec(objectOf(object.spec)), status: object.status ?? {} };
    case "StatefulSet":
      return {
        ...object,
        spec: statefulSetSpec(objectOf(object.spec)),
        status: object.status ?? emptyStatefulSetStatus,
      };
    case "DaemonSet":
      return { ...object, spec: daemonSetSpec(objectOf(object.spec)), status: object.status ?? emptyDaemonSetStatus };
    case "ReplicaSet": {
      const spec = objectOf(object.spec);
      const filled = { ...spec, replicas: spec.replicas ?? 1, template: podTemplate(spec.template) };
      return { ...object, spec: filled, status: object.status ?? { replicas: 0 } };
    }
    case "Pod": {
      const spec = {
        ...podSpec(objectOf(object.spec)),
        enableServiceLinks: objectOf(object.spec).enableServiceLinks ?? true,
      };
      return { ...object, spec, status: { phase: "Pending", qosClass: "BestEffort", ...objectOf(object.status) } };
    }
    case "Secret":
      return { ...object, type: object.type ?? "Opaque" };
    case "Namespace":
      return {
        ...object,
        spec: object.spec ?? { finalizers: ["kubernetes"] },
        status: object.status ?? { phase: "Active" },
      };
    case "Service":
      return { ...object, spec: serviceSpec(objectOf(object.spec)), status: object.status ?? { loadBalancer: {} } };
    case "Event":
      return {
        source: {},
        reportingComponent: "",
        reportingInstance: "",
        firstTimestamp: null,
        lastTimestamp: null,
        eventTime: null,
        ...object,
      };
    case "MutatingWebhookConfiguration":
      return { ...object, webhooks: listOf(object.webhooks).map((webhook) => webhookDefaults(objectOf(webhook))) };
    default:
      return object;
  }
}

const emptyStatefulSetStatus = { replicas: 0, availableReplicas: 0 };

const emptyDaemonSetStatus = {
  currentNumberScheduled: 0,
  numberMisscheduled: 0,
  desiredNumberScheduled: 0,
  numberReady: 0,
};

function deploymentSpec(spec: JsonObject): JsonObject {
  return {
    replicas: 1,
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
    ...spec,
    strategy: updateStrategy(spec.strategy, { maxUnavailable: "25%", maxSurge: "25%" }),
    template: podTemplate(spec.template),
  };
}

function statefulSetSpec(spec: JsonObject): JsonObject {
  return {
    replicas: 1,
    podManagementPolicy: "OrderedReady",
    revisionHistoryLimit: 10,
    persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
    ...spec,
    updateStrategy: updateStrategy(spec.updateStrategy, { partition: 0 }),
    template: podTemplate(spec.template),
  };
}

function daemonSetSpec(spec: JsonObject): JsonObject {
  return {
    revisionHistoryLimit: 10,
    ...spec,
    updateStrategy: updateStrategy(spec.updateStrategy, { maxUnavailable: 1, maxSurge: 0 }),
    template: podTemplate(spec.template),
  };
}

/** Rolling unless it says otherwise; the defaults are those of a rolling update alone. */
function updateStrategy(given: Json | undefined, defaults: JsonObject): JsonObject {
  const strategy = objectOf(given);
  const type = strategy.type ?? "RollingUpdate";
  if (type !== "RollingUpdate") return { ...strategy, type };
  return { type, rollingUpdate: { ...defaults, ...objectOf(strategy.rollingUpdate) } };
}

function podTemplate(template: Json | undefined): JsonObject {
  const { metadata, spec, ...rest } = objectOf(template);
  return { metadata: metadata ?? {}, ...rest, spec: podSpec(objectOf(spec)) };
}

function podSpec(spec: JsonObject): JsonObject {
  const lists: { [field: string]: Json } = {};
  if (isList(spec.volumes)) lists.volumes = spec.volumes.map((volume) => volumeDefaults(objectOf(volume)));
  for (const field of ["initContainers", "containers"]) {
    const containers = spec[field];
    if (isList(containers)) lists[field] = containers.map((container) => containerDefaults(objectOf(container)));
  }
  return {
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    securityContext: {},
    schedulerName: "default-scheduler",
    ...withServiceAccount(spec),
    ...lists,
  };
}

/** The old name of the field goes along with the new one. */
function withServiceAccount(spec: JsonObject): JsonObject {
  const name = spec.serviceAccountName ?? spec.serviceAccount;
  return name === undefined ? spec : { ...spec, serviceAccountName: name, serviceAccount: name };
}

function volumeDefaults(volume: JsonObject): JsonObject {
  const withMode: { [source: string]: Json } = {};
  for (const source of ["configMap", "secret", "projected", "downwardAPI"]) {
    const value = volume[source];
    if (isObject(value)) withMode[source] = { ...value, defaultMode: value.defaultMode ?? 0o644 };
  }
  const sources = Object.keys(volume).filter((field) => field !== "name");
  return sources.length === 0 ? { ...volume, emptyDir: {} } : { ...volume, ...withMode };
}

function containerDefaults(container: JsonObject): JsonObject {
  const image = stringOf(container.image);
  // Without a tag or digest, or with the tag latest, an image may change under its name.
  const floating = !image.includes("@") && !/:(?!latest$)[^/]+$/.test(image);
  const lists: { [field: string]: Json } = {};
  if (isList(container.ports)) lists.ports = container.ports.map((port) => ({ protocol: "TCP", ...objectOf(port) }));
  if (isList(container.env)) lists.env = container.env.map((variable) => envDefaults(objectOf(variable)));
  for (const field of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    const probe = container[field];
    if (isObject(probe)) lists[field] = probeDefaults(probe);
  }
  return {
    resources: {},
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: floating ? "Always" : "IfNotPresent",
    ...container,
    ...lists,
  };
}

function envDefaults(variable: JsonObject): JsonObject {
  const valueFrom = objectOf(variable.valueFrom);
  if (!isObject(valueFrom.fieldRef)) return variable;
  return { ...variable, valueFrom: { ...valueFrom, fieldRef: { apiVersion: "v1", ...valueFrom.fieldRef } } };
}

function probeDefaults(probe: JsonObject): JsonObject {
  const httpGet = isObject(probe.httpGet) ? { httpGet: { scheme: "HTTP", path: "/", ...probe.httpGet } } : {};
  return { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3, ...probe, ...httpGet };
}

function serviceSpec(spec: JsonObject): JsonObject {
  const ports = listOf(spec.ports).map((port) => {
    const fields = objectOf(port);
    return { protocol: "TCP", targetPort: fields.port, ...fields };
  });
  return { type: "ClusterIP", sessionAffinity: "None", internalTrafficPolicy: "Cluster", ...spec, ports };
}

function webhookDefaults(webhook: JsonObject): JsonObject {
  return {
    failurePolicy: "Fail",
    matchPolicy: "Equivalent",
    namespaceSelector: {},
    objectSelector: {},
    timeoutSeconds: 10,
    reinvocationPolicy: "Never",
    ...webhook,
  };
}
