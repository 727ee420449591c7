import type { Cluster } from "../control-plane/cluster.ts";

/** The kinds that Wave rolls, with the facts that tests need. */
export const workloadKinds = [
  { kind: "Deployment", plural: "deployments", spec: {} },
  { kind: "StatefulSet", plural: "statefulsets", spec: { serviceName: "none", podManagementPolicy: "Parallel" } },
  { kind: "DaemonSet", plural: "daemonsets", spec: {} },
] as const;

/** The name of a workload kind. */
export type WorkloadKind = (typeof workloadKinds)[number]["kind"];

/** The names of {@link workloadKinds}. */
export const kindNames: readonly WorkloadKind[] = workloadKinds.map(({ kind }) => kind);

/** The fields of a workload outside its pod spec that a test sets. */
export interface WorkloadOptions {
  readonly kind?: WorkloadKind;
  readonly annotations?: Record<string, string>;
  /** Merged over the workload's spec. */
  readonly spec?: Record<string, unknown>;
}

/** The annotations of a workload that opted in. */
export const optIn = { "wave.pusher.com/update-on-config-change": "true" };

/** A container that reads no configuration, as a base for other containers. */
export const container = { name: "app", image: "nginx" };

/** Returns a workload that opted in, with one Pod of this pod spec. */
export function workload(name: string, podSpec: Record<string, unknown>, options: WorkloadOptions = {}) {
  const kind = options.kind ?? "Deployment";
  const row = workloadKinds.find((candidate) => candidate.kind === kind);
  return {
    apiVersion: "apps/v1",
    kind,
    metadata: { name, annotations: { ...optIn, ...options.annotations } },
    spec: {
      ...row?.spec,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { terminationGracePeriodSeconds: 0, ...podSpec } },
      ...options.spec,
    },
  };
}

/** Returns the API path of the workloads of a kind in a namespace, or of one workload. */
export function workloadPath(namespace: string, kind: WorkloadKind, name?: string): string {
  const row = workloadKinds.find((candidate) => candidate.kind === kind);
  return `/apis/apps/v1/namespaces/${namespace}/${row?.plural}${name === undefined ? "" : `/${name}`}`;
}

interface NewObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly [field: string]: unknown;
}

/** The namespace of one test, with the actions that tests need. */
export interface Namespace {
  readonly name: string;
  readonly create: (object: NewObject) => Promise<void>;
  /** Sets keys of a ConfigMap or Secret (of a Secret by `stringData`) and keeps the other keys. */
  readonly edit: (kind: "ConfigMap" | "Secret", name: string, data: Record<string, string>) => Promise<void>;
  readonly configMap: (name: string, data: Record<string, string>, more?: Record<string, unknown>) => Promise<void>;
  readonly secret: (name: string, stringData: Record<string, string>, more?: Record<string, unknown>) => Promise<void>;
  readonly remove: (kind: "ConfigMap" | "Secret", name: string) => Promise<void>;
  /** Applies a JSON merge patch to any object below the namespace's path. */
  readonly merge: (path: string, patch: unknown) => Promise<void>;
}

const collections: Record<string, string> = {
  ConfigMap: "/api/v1/namespaces/NAMESPACE/configmaps",
  Secret: "/api/v1/namespaces/NAMESPACE/secrets",
  Deployment: "/apis/apps/v1/namespaces/NAMESPACE/deployments",
  StatefulSet: "/apis/apps/v1/namespaces/NAMESPACE/statefulsets",
  DaemonSet: "/apis/apps/v1/namespaces/NAMESPACE/daemonsets",
};

/** Creates a namespace that accepts Pods. */
export async function makeNamespace(cluster: Cluster, name: string): Promise<Namespace> {
  await cluster.api("POST", "/api/v1/namespaces", { metadata: { name } });
  // The API server rejects Pods until their ServiceAccount exists. On a busy machine, kube-controller-manager creates it seconds later.
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } };
  const path = `/api/v1/namespaces/${name}/serviceaccounts/default?fieldManager=test`;
  await cluster.api("PATCH", path, account, "application/apply-patch+yaml");
  return namespaceAs(cluster, name);
}

/** Returns an existing namespace, with the permissions of the user of `cluster`. */
export function namespaceAs(cluster: Cluster, name: string): Namespace {
  const collection = (kind: string) => (collections[kind] ?? "").replace("NAMESPACE", name);
  const merge = async (path: string, patch: unknown) => {
    await cluster.api("PATCH", path, patch, "application/merge-patch+json");
  };
  const create: Namespace["create"] = async (object) => {
    await cluster.api("POST", collection(object.kind), object);
  };
  return {
    name,
    create,
    merge,
    edit: (kind, configName, data) =>
      merge(`${collection(kind)}/${configName}`, kind === "Secret" ? { stringData: data } : { data }),
    configMap: (configName, data, more) => create({ kind: "ConfigMap", metadata: { name: configName }, data, ...more }),
    secret: (configName, stringData, more) =>
      create({ kind: "Secret", metadata: { name: configName }, stringData, ...more }),
    remove: async (kind, configName) => {
      await cluster.api("DELETE", `${collection(kind)}/${configName}`);
    },
  };
}
