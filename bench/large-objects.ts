/** An object of `entries` entries as the API server would send it, and what its readers find in its namespace. */
export interface LargeObject {
  readonly workload: object;
  /** The ConfigMap that is edited, or that the workload reads. */
  readonly configMap: object;
  /** What else the workload reads. */
  readonly others: readonly object[];
}

/** What is large, and how it grows. */
export const largeObjects: Readonly<Record<string, (entries: number) => LargeObject>> = {
  "env entries on one ConfigMap": (n) => ({
    workload: workload({ env: times(n, (i) => variable(i, "large")) }),
    configMap: configMap("large", n),
    others: [],
  }),
  "env entries on as many ConfigMaps": (n) => ({
    workload: workload({ env: times(n, (i) => variable(i, `small-${i}`)) }),
    configMap: configMap("large", 0),
    others: times(n, (i) => configMap(`small-${i}`, 1, i)),
  }),
  "volumes, each with an item and a subPath": (n) => ({
    workload: workload(
      { volumeMounts: times(n, (i) => ({ name: `v${i}`, mountPath: `/m/${i}`, subPath: `f${i}` })) },
      {
        volumes: times(n, (i) => ({
          name: `v${i}`,
          configMap: { name: "large", items: [{ key: key(i), path: `f${i}` }], defaultMode: 420 },
        })),
      },
    ),
    configMap: configMap("large", n),
    others: [],
  }),
  "items and subPaths of one volume": (n) => ({
    workload: workload(
      { volumeMounts: times(n, (i) => ({ name: "v", mountPath: `/m/${i}`, subPath: `d/f${i}` })) },
      {
        volumes: [
          { name: "v", configMap: { name: "large", items: times(n, (i) => ({ key: key(i), path: `d/f${i}` })) } },
        ],
      },
    ),
    configMap: configMap("large", n),
    others: [],
  }),
  "sources of a projected volume, and subPaths": (n) => ({
    workload: workload(
      { volumeMounts: times(n, (i) => ({ name: "v", mountPath: `/m/${i}`, subPath: key(i) })) },
      { volumes: [{ name: "v", projected: { sources: times(n, (i) => ({ configMap: { name: `small-${i}` } })) } }] },
    ),
    configMap: configMap("large", 0),
    others: times(n, (i) => configMap(`small-${i}`, 1, i)),
  }),
  "good names in an annotation": (n) => ({
    workload: workload({}, {}, { "wave.pusher.com/extra-configmaps": times(n, (i) => `small-${i}`).join() }),
    configMap: configMap("large", 0),
    others: times(n, (i) => configMap(`small-${i}`, 1, i)),
  }),
  "bad names in an annotation": (n) => ({
    workload: workload({}, {}, { "wave.pusher.com/extra-configmaps": times(n, (i) => `Bad_${i}`).join() }),
    configMap: configMap("large", 0),
    others: [],
  }),
  "unknown annotations of Wave": (n) => ({
    workload: workload({}, {}, Object.fromEntries(times(n, (i) => [`wave.pusher.com/extra-secrets-${i}`, ""]))),
    configMap: configMap("large", 0),
    others: [],
  }),
  "keys of a ConfigMap": (n) => ({
    workload: workload({ envFrom: [{ configMapRef: { name: "large" } }] }),
    configMap: configMap("large", n),
    others: [],
  }),
};

function times<T>(n: number, make: (i: number) => T): T[] {
  return Array.from({ length: n }, (_, i) => make(i));
}

function key(i: number): string {
  return `k${i}`;
}

function variable(i: number, name: string): object {
  return { name: `V${i}`, valueFrom: { configMapKeyRef: { name, key: key(i) } } };
}

function configMap(name: string, keys: number, from = 0): object {
  const data = Object.fromEntries(times(keys, (i) => [key(from + i), `${i}`]));
  const fields = Object.fromEntries(times(keys, (i) => [`f:${key(from + i)}`, {}]));
  const metadata = {
    namespace: "shop",
    name,
    uid,
    resourceVersion: "7",
    managedFields: [managed({ "f:data": fields })],
  };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data };
}

const uid = "11111111-1111-1111-1111-111111111111";

function managed(fieldsV1: object): object {
  return { manager: "kubectl", operation: "Update", apiVersion: "apps/v1", fieldsType: "FieldsV1", fieldsV1 };
}

interface Container {
  readonly env?: readonly object[];
  readonly envFrom?: readonly object[];
  readonly volumeMounts?: readonly object[];
}

function workload(container: Container, pod: object = {}, annotations: object = {}): object {
  const fields = times(container.env?.length ?? 0, (i) => [
    `k:{"name":"V${i}"}`,
    { ".": {}, "f:name": {}, "f:valueFrom": { ".": {}, "f:configMapKeyRef": {} } },
  ]);
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      namespace: "shop",
      name: "web",
      uid,
      generation: 3,
      annotations: { "wave.pusher.com/update-on-config-change": "true", ...annotations },
      managedFields: [managed({ "f:spec": { "f:template": { "f:env": Object.fromEntries(fields) } } })],
    },
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" }, annotations: { "wave.pusher.com/config-hash": `v2:${"0".repeat(64)}` } },
        spec: { schedulerName: "default-scheduler", containers: [{ name: "web", ...container }], ...pod },
      },
    },
  };
}
