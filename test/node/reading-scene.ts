import { until } from "../control-plane/wave-process.ts";
import { makeNamespace, type Namespace, workload } from "../end-to-end/objects.ts";
import { getWorkload, hashInForce, waveEvents } from "../end-to-end/state.ts";
import { type Pod, podsOf, rolledOut } from "./installed.ts";
import type { RealNode } from "./node.ts";
import { type Pages, pagesOf, readsEverywhere, refresh } from "./reading-pods.ts";

/** A workload of a {@link ReadingScene}. */
export interface ReadingWorkload {
  readonly command?: string;
  readonly annotations?: Record<string, string>;
  readonly spec?: Record<string, unknown>;
}

/** A namespace in which Pods read the ConfigMap "page", with or without pinned copies. */
export interface ReadingScene {
  readonly namespace: Namespace;
  readonly kubectl: (...args: readonly string[]) => Promise<string>;
  /** Creates a Deployment that Wave rolls, and returns its Pod when the Pod runs. */
  readonly create: (name: string, options?: ReadingWorkload) => Promise<Pod>;
  /** Changes the page, or creates the ConfigMap, and waits until an unpinned Pod on the same node reads the new page. */
  readonly edit: (page: string) => Promise<void>;
  /** Waits until a Deployment has only one Pod, and returns the Pod. */
  readonly onlyPod: (name: string) => Promise<Pod>;
  readonly pages: (pod: Pod) => Promise<Pages>;
  /** Waits for an Event of Wave on a Deployment. */
  readonly event: (name: string, reason: string) => Promise<unknown>;
}

/** Creates a namespace. Without `page`, the ConfigMap does not exist. */
export async function startReading(
  { cluster }: RealNode,
  ns: string,
  { pinned, page }: { readonly pinned: boolean; readonly page: string | undefined },
): Promise<ReadingScene> {
  const namespace = await makeNamespace(cluster, ns);
  if (page !== undefined) await namespace.configMap("page", { page });
  const kubectl: ReadingScene["kubectl"] = (...args) => cluster.kubectl(["-n", ns, ...args]);
  const onlyPod = (name: string) =>
    until(`one Pod of ${name}`, async () => {
      const pods = await podsOf(cluster, ns, `app=${name}`);
      return pods.length === 1 ? pods[0] : undefined;
    });
  return {
    namespace,
    kubectl,
    onlyPod,
    pages: ({ metadata }) => pagesOf(cluster, ns, metadata.name),
    async create(name, { command, annotations, spec } = {}) {
      const pin = pinned ? { "wave.pusher.com/pin-config": "true" } : {};
      const podSpec = readsEverywhere("page", command);
      await namespace.create(workload(name, podSpec, { annotations: { ...pin, ...annotations }, spec: { ...spec } }));
      await until("the hash, and the names of the copies if the workload is pinned", async () => {
        const { metadata, spec } = await getWorkload(cluster, ns, "Deployment", name);
        const pins = spec.template.metadata.annotations?.["wave.pusher.com/pinned"];
        const hash = hashInForce(metadata, spec.template.metadata);
        return hash !== undefined && (pins !== undefined) === pinned ? true : undefined;
      });
      await rolledOut(cluster, ns, `deployment/${name}`);
      return await onlyPod(name);
    },
    async edit(newPage) {
      const probe = { metadata: { name: "probe" }, spec: readsEverywhere("page") };
      await cluster.api("POST", `/api/v1/namespaces/${ns}/pods`, probe);
      await kubectl("wait", "--for=condition=Ready", "pod/probe", "--timeout=240s");
      if (page === undefined) await namespace.configMap("page", { page: newPage });
      else await namespace.edit("ConfigMap", "page", { page: newPage });
      await refresh(cluster, ns, "probe");
      await until("the new page in the probe", async () =>
        (await pagesOf(cluster, ns, "probe")).volume === newPage ? true : undefined,
      );
    },
    event: (name, reason) =>
      until(`Event ${reason} of ${name}`, async () =>
        (await waveEvents(cluster, ns, name)).find((event) => event.reason === reason),
      ),
  };
}
