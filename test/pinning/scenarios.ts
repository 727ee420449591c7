import type { Place, Scene } from "../admission/admitted.ts";
import type { AnyObject, Cluster } from "../control-plane/cluster.ts";
import { until } from "../control-plane/wave-process.ts";
import { container, type WorkloadKind, workload, workloadPath } from "../end-to-end/objects.ts";
import { getWorkload } from "../end-to-end/state.ts";
import { policies } from "./pointed.ts";

/**
 * Installs the policy of the chart that points the Pods of a namespace at pinned copies, which takes effect a moment later. The policy that
 * protects copies is left out: it would protect them from Wave, which runs as an administrator here.
 */
export async function applyPointingPolicy(cluster: Cluster, namespace: string): Promise<void> {
  await cluster.kubectl(["apply", "-f", "-"], await pointingPolicy(cluster, namespace));
}

/** Removes what {@link applyPointingPolicy} installed, which takes effect a moment later. */
export async function removePointingPolicy(cluster: Cluster, namespace: string): Promise<void> {
  await cluster.kubectl(["delete", "-f", "-"], await pointingPolicy(cluster, namespace));
}

async function pointingPolicy(cluster: Cluster, namespace: string): Promise<string> {
  const documents = (await policies(cluster, namespace, `namespaces={${namespace}}`)).split(/^---$/m);
  return documents.filter((document) => /^kind: MutatingAdmissionPolicy/m.test(document)).join("---\n");
}

interface Reference {
  readonly name?: string;
}

interface ReadingPod extends AnyObject {
  readonly spec: {
    readonly volumes?: readonly {
      readonly configMap?: Reference;
      readonly projected?: { readonly sources: readonly { readonly configMap?: Reference }[] };
    }[];
    readonly containers: readonly {
      readonly image: string;
      readonly env?: readonly { readonly valueFrom?: { readonly configMapKeyRef?: Reference } }[];
      readonly envFrom?: readonly { readonly configMapRef?: Reference }[];
    }[];
  };
}

/** Returns a pod spec that reads ConfigMaps as files, as projected files and as variables. */
export function readsPages(names: readonly string[], image = container.image) {
  return {
    containers: [
      {
        ...container,
        image,
        env: names.map((name) => ({
          name: name.toUpperCase(),
          valueFrom: { configMapKeyRef: { name, key: "page", optional: true } },
        })),
        envFrom: names.map((name) => ({ configMapRef: { name, optional: true } })),
        volumeMounts: names.map((name) => ({ name, mountPath: `/${name}` })),
      },
    ],
    volumes: [
      ...names.map((name) => ({ name, configMap: { name, optional: true } })),
      { name: "all", projected: { sources: names.map((name) => ({ configMap: { name, optional: true } })) } },
    ],
  };
}

/** Returns the names of the ConfigMaps that a Pod references, without those that Kubernetes adds. */
function namesIn({ spec }: ReadingPod): readonly string[] {
  const references = [
    ...(spec.volumes ?? []).flatMap(({ configMap, projected }) => [
      configMap,
      ...(projected?.sources ?? []).map((source) => source.configMap),
    ]),
    ...spec.containers.flatMap(({ env = [], envFrom = [] }) => [
      ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef),
      ...envFrom.map(({ configMapRef }) => configMapRef),
    ]),
  ];
  const names = references.flatMap((reference) => reference?.name ?? []);
  return [...new Set(names)].filter((name) => name !== "kube-root-ca.crt").toSorted();
}

/**
 * Returns the pages that a kubelet would give to a new container of each Pod of a workload at this moment, sorted. So a page that has leaked
 * is found without a node: a Pod that references a live ConfigMap reads each edit.
 */
export async function pagesRead({ cluster, namespace }: Place, name: string): Promise<readonly string[]> {
  const pages = new Set<string>();
  for (const pod of await podsOfWorkload(cluster, namespace.name, name)) {
    for (const configMap of namesIn(pod)) pages.add(await pageOf(cluster, namespace.name, configMap));
  }
  return [...pages].toSorted();
}

/** Returns the names of the ConfigMaps that each Pod of a workload references, by the name of the Pod. */
export async function configMapsOfPods(
  { cluster, namespace }: Scene,
  name: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const pods = await podsOfWorkload(cluster, namespace.name, name);
  return new Map(pods.map((pod) => [pod.metadata.name, namesIn(pod)]));
}

/** Returns the images of the Pods of a workload, sorted. */
export async function imagesOf({ cluster, namespace }: Scene, name: string): Promise<readonly string[]> {
  const pods = await podsOfWorkload(cluster, namespace.name, name);
  const images = pods.flatMap(({ spec }) => spec.containers.map(({ image }) => image));
  return [...new Set(images)].toSorted();
}

/** Waits until each Pod of a workload is new since `before` and runs, and returns the pages that the Pods read. */
export function pagesOfNewPods(scene: Place, name: string, before: readonly string[]): Promise<readonly string[]> {
  const { cluster, namespace } = scene;
  return until(`new Pods of ${name}`, async () => {
    const pods = await podsOfWorkload(cluster, namespace.name, name);
    const areNew = pods.length > 0 && pods.every(({ metadata }) => !before.includes(metadata.uid));
    return areNew ? await pagesRead(scene, name) : undefined;
  });
}

/** Deletes the Pods of a workload at once, and returns the pages of the Pods that replace them. */
export async function pagesOfReplacedPods(scene: Place, name: string): Promise<readonly string[]> {
  const before = await podUids(scene, name);
  const select = ["-l", `app=${name}`, "--force", "--grace-period=0"];
  await scene.cluster.kubectl(["-n", scene.namespace.name, "delete", "pods", ...select]);
  return await pagesOfNewPods(scene, name, before);
}

/** Returns the uids of the Pods of a workload. */
export async function podUids({ cluster, namespace }: Place, name: string): Promise<readonly string[]> {
  return (await podsOfWorkload(cluster, namespace.name, name)).map(({ metadata }) => metadata.uid);
}

async function podsOfWorkload(cluster: Cluster, ns: string, name: string): Promise<readonly ReadingPod[]> {
  const pods = (await cluster.list(`/api/v1/namespaces/${ns}/pods?labelSelector=app=${name}`)) as readonly ReadingPod[];
  return pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

async function pageOf(cluster: Cluster, ns: string, name: string): Promise<string> {
  const path = `/api/v1/namespaces/${ns}/configmaps/${name}`;
  return await cluster.api<AnyObject & { readonly data?: { readonly page?: string } }>("GET", path).then(
    ({ data }) => data?.page ?? "",
    (error: Error) => {
      if (error.message.includes(": 404 ")) return "";
      throw error;
    },
  );
}

/** Creates a pinned workload with a ConfigMap of the same name, page "old", and waits until its Pods read a copy. */
export async function createPinned(
  scene: Scene,
  kind: WorkloadKind,
  name: string,
  podSpec: Record<string, unknown> = readsPages([name]),
): Promise<void> {
  const { cluster, namespace } = scene;
  await namespace.configMap(name, { page: "old" });
  const annotations = { "wave.pusher.com/pin-config": "true" };
  await namespace.create(workload(name, podSpec, { kind, annotations }));
  await until(`pins of ${kind} ${name}`, async () => {
    const { spec } = await getWorkload(cluster, namespace.name, kind, name);
    return spec.template.metadata.annotations?.["wave.pusher.com/pinned"];
  });
  const resource = `${kind.toLowerCase()}/${name}`;
  await cluster.kubectl(["-n", namespace.name, "rollout", "status", resource, "--timeout=90s"]);
}

/** Sets annotations of a workload; null removes an annotation. */
export function annotate(
  { namespace }: Scene,
  kind: WorkloadKind,
  name: string,
  annotations: Record<string, string | null>,
): Promise<void> {
  return namespace.merge(workloadPath(namespace.name, kind, name), { metadata: { annotations } });
}
