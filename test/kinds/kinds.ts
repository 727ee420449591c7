import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { AnyObject, Cluster } from "../control-plane/cluster.ts";
import { until } from "../control-plane/wave-process.ts";
import { container, optIn } from "../end-to-end/objects.ts";

/** A kind that a test adds to the cluster, with the status that its controller (played by the test) reports. */
export interface PlayedKind {
  /** Its name in `--workload-kinds`. */
  readonly flag: string;
  /** Its name in metrics. */
  readonly id: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  /** The file of its definition. */
  readonly file: string;
  /** The field of the spec that contains its pod template. */
  readonly template: "template" | "podTemplate";
  readonly spec: Readonly<Record<string, unknown>>;
  /** Its status while its only Pod is replaced, and when the Pod is available. */
  readonly status: (generation: number, available: 0 | 1) => Readonly<Record<string, unknown>>;
}

const replicas = 1;

/** Every kind that the tests play. */
export const playedKinds: readonly PlayedKind[] = [
  {
    flag: "rollouts.argoproj.io",
    id: "rollouts.argoproj.io",
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Rollout",
    plural: "rollouts",
    file: "rollouts.yaml",
    template: "template",
    spec: { replicas, strategy: { canary: {} } },
    status: (generation, available) => ({
      observedGeneration: `${generation}`,
      phase: available === 1 ? "Healthy" : "Progressing",
      replicas,
      updatedReplicas: 1,
      availableReplicas: available,
    }),
  },
  {
    flag: "clonesets.apps.kruise.io",
    id: "clonesets.apps.kruise.io",
    apiVersion: "apps.kruise.io/v1alpha1",
    kind: "CloneSet",
    plural: "clonesets",
    file: "clonesets.yaml",
    template: "template",
    spec: { replicas, updateStrategy: { type: "ReCreate" } },
    status: counted,
  },
  {
    flag: "apps.kruise.io/v1beta1/statefulsets",
    id: "statefulsets.apps.kruise.io",
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "StatefulSet",
    plural: "statefulsets",
    file: "advanced-statefulsets.yaml",
    template: "template",
    spec: { replicas, serviceName: "none" },
    status: counted,
  },
  {
    flag: "widgets.example.com=/spec/podTemplate",
    id: "widgets.example.com",
    apiVersion: "example.com/v1",
    kind: "Widget",
    plural: "widgets",
    file: "widgets.yaml",
    template: "podTemplate",
    spec: { replicas },
    // As many controllers in Go do: a field with the value 0 is omitted.
    status: (observedGeneration, available) => ({
      observedGeneration,
      ...(available === 1 && { updatedReplicas: 1, readyReplicas: 1 }),
    }),
  },
];

/** A kind that is defined only later. */
export const laterKind: PlayedKind = {
  flag: "gadgets.example.com",
  id: "gadgets.example.com",
  apiVersion: "example.com/v1",
  kind: "Gadget",
  plural: "gadgets",
  file: "gadgets.yaml",
  template: "template",
  spec: {},
  status: () => ({}),
};

function counted(observedGeneration: number, available: 0 | 1) {
  return { observedGeneration, replicas, updatedReplicas: 1, readyReplicas: available, availableReplicas: available };
}

/** Returns the path of the objects of a kind in a namespace, or of one object. */
export function pathOf({ apiVersion, plural }: PlayedKind, namespace: string, name?: string): string {
  return `/apis/${apiVersion}/namespaces/${namespace}/${plural}${name === undefined ? "" : `/${name}`}`;
}

/** Adds a kind to the cluster, and waits until the API server serves it. */
export async function define(cluster: Cluster, { file, apiVersion, plural }: PlayedKind): Promise<void> {
  await cluster.kubectl(["apply", "-f", "-"], readFileSync(join(import.meta.dirname, "crds", file), "utf8"));
  await until(`${plural} to be served`, () => cluster.list(`/apis/${apiVersion}/${plural}`));
}

/** Removes a kind and all of its objects from the cluster. */
export async function undefine(cluster: Cluster, { apiVersion, plural }: PlayedKind): Promise<void> {
  const name = `${plural}.${apiVersion.slice(0, apiVersion.indexOf("/"))}`;
  await cluster.kubectl(["delete", "crd", name, "--ignore-not-found"]);
}

/** Creates an opted-in object that reads a ConfigMap. */
export async function make(
  cluster: Cluster,
  kind: PlayedKind,
  namespace: string,
  name: string,
  more: {
    readonly reads?: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly podSpec?: Readonly<Record<string, unknown>>;
  } = {},
): Promise<void> {
  const envFrom = [{ configMapRef: { name: more.reads ?? name } }];
  const template = {
    metadata: { labels: { app: name } },
    spec: { containers: [{ ...container, envFrom }], ...more.podSpec },
  };
  const { apiVersion, kind: called, spec } = kind;
  const selector = kind.template === "template" ? { selector: { matchLabels: { app: name } } } : {};
  const metadata = { name, annotations: { ...optIn, ...more.annotations } };
  const object = { apiVersion, kind: called, metadata, spec: { ...spec, ...selector, [kind.template]: template } };
  await cluster.api("POST", pathOf(kind, namespace), object);
}

interface Stored extends AnyObject {
  readonly spec: Readonly<
    Record<string, { readonly metadata?: { annotations?: Readonly<Record<string, string>> }; readonly spec?: object }>
  >;
}

/** Returns the pod spec in the template of an object. */
export async function podSpecOf(cluster: Cluster, kind: PlayedKind, namespace: string, name: string) {
  const { spec } = await cluster.api<Stored>("GET", pathOf(kind, namespace, name));
  return spec[kind.template]?.spec;
}

/** Returns the hash in the pod template of an object; undefined if it has no hash. */
export async function hashOf(cluster: Cluster, kind: PlayedKind, namespace: string, name: string) {
  const { spec } = await cluster.api<Stored>("GET", pathOf(kind, namespace, name));
  return spec[kind.template]?.metadata?.annotations?.["wave.pusher.com/config-hash"];
}

/** Waits for a hash other than `before`. */
export function nextHash(cluster: Cluster, kind: PlayedKind, namespace: string, name: string, before?: string) {
  return until(`a new hash on ${kind.id} ${name}`, async () => {
    const hash = await hashOf(cluster, kind, namespace, name);
    return hash === before ? undefined : hash;
  });
}

/** Reports, as its controller would, that its Pod was replaced, or with 0 that its Pod is being replaced. */
export async function play(cluster: Cluster, kind: PlayedKind, ns: string, name: string, available: 0 | 1) {
  const path = pathOf(kind, ns, name);
  const { metadata } = await cluster.api("GET", path);
  const status = kind.status(metadata.generation ?? 0, available);
  await cluster.api("PATCH", `${path}/status`, { status }, "application/merge-patch+json");
}

/** Returns how often any client patched an object; patches of the status are excluded. */
export async function writesOf(cluster: Cluster, kind: PlayedKind, ns: string, name: string): Promise<number> {
  const { metadata } = await cluster.api("GET", pathOf(kind, ns, name));
  return (metadata.generation ?? 0) - 1;
}
