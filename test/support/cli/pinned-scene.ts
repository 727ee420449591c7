import { toConfig } from "../../../src/domain/config/digest.ts";
import { copyName, formatPins, wholeContent } from "../../../src/domain/pinning/pinned-lookup.ts";
import {
  causeAnnotation,
  configHash,
  copyOf,
  editedBy,
  pinnedAnnotation,
  pinnedCopyLabel,
} from "../../../src/domain/references/annotations.ts";
import type { KubeObject } from "../../../src/kube/api/resources.ts";
import { type CommandScene, commandScene } from "./commands.ts";

/** The copies of a revision, by their source. */
export type Copies = Readonly<Record<string, string>>;

/** A Pod for a test. It mounts the first ConfigMap of `reads` and reads all others as environment. */
export interface WantedPod {
  readonly revision: number;
  readonly hash: string;
  /** The pins in its annotation; undefined: no annotation. */
  readonly pinned?: Copies | undefined;
  /** The names of the ConfigMaps that its spec references. */
  readonly reads: readonly string[];
}

/** A namespace with pinned workloads, in an API server without controllers. All names are those that the tests give. */
export interface PinnedScene extends CommandScene {
  /** Creates an immutable copy of these data and returns its name. `editor` wrote the content first. */
  readonly createCopy: (source: string, data: Readonly<Record<string, string>>, editor?: string) => Promise<string>;
  /** Creates the Deployment `web`, which mounts ConfigMap `page` and reads ConfigMap `flags` as environment. */
  readonly createWeb: (annotations?: Readonly<Record<string, string>>) => Promise<void>;
  /** Writes pins and the current hash into the pod template, as Wave does, and returns the hash. */
  readonly pin: (copies: Copies) => Promise<string>;
  /** Creates the ReplicaSet of a revision, as Kubernetes does, also with the cause that the workload had. */
  readonly createRevision: (revision: number, hash: string, pinned?: Copies, cause?: string) => Promise<void>;
  /** Creates a Pod of a revision that exists. */
  readonly createPod: (wanted: WantedPod) => Promise<void>;
  /** Scales `web` to the created Pods, and writes the status of a complete rollout. */
  readonly complete: () => Promise<void>;
}

function withLabels<T extends { readonly metadata: object }>(template: T, labels: object): T {
  return { ...template, metadata: { ...template.metadata, labels } };
}

/** Returns such a namespace. `sandbox` must run without controllers. */
export async function pinnedScene(
  sandbox: { readonly url: string; readonly kubeconfig: () => object },
  namespace: string,
): Promise<PinnedScene> {
  const scene = commandScene(sandbox, namespace);
  const send = async (method: string, path: string, body: object) => {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const headers = { "content-type": type };
    const response = await fetch(`${sandbox.url}${path}`, { method, headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
    return ((await response.json()) as KubeObject).metadata;
  };
  const [core, apps] = [`/api/v1/namespaces/${namespace}`, `/apis/apps/v1/namespaces/${namespace}`];
  const templateOf = (hash: string, pinned: Copies | undefined, reads: readonly string[]) => {
    const [mounted = "", ...env] = reads;
    return {
      metadata: {
        labels: { app: "web" },
        annotations: {
          [configHash]: hash,
          ...(pinned && { [pinnedAnnotation]: formatPins(new Map(Object.entries(pinned))) }),
        },
      },
      spec: {
        containers: [{ name: "web", image: "nginx", envFrom: env.map((name) => ({ configMapRef: { name } })) }],
        volumes: [{ name: "files", configMap: { name: mounted } }],
      },
    };
  };
  let pods = 0;
  // The garbage collector deletes Pods whose owner does not exist.
  const replicaSets = new Map<number, string | undefined>();
  await scene.createNamespace(namespace);
  return {
    ...scene,
    createCopy: async (source, data, editor) => {
      const metadata = { namespace, name: source };
      const name = copyName(source, wholeContent(toConfig("ConfigMap", { metadata, data })), 10);
      await send("POST", `${core}/configmaps?fieldManager=wave`, {
        metadata: {
          name,
          labels: { [pinnedCopyLabel]: "true" },
          annotations: { [copyOf]: source, ...(editor && { [editedBy]: editor }) },
        },
        immutable: true,
        data,
      });
      return name;
    },
    createWeb: (annotations = {}) =>
      scene.createWorkload("deployments/web", {
        annotations: { "wave.pusher.com/pin-config": "true", ...annotations },
        spec: {
          template: {
            metadata: { labels: { app: "web" } },
            spec: {
              containers: [{ name: "web", image: "nginx", envFrom: [{ configMapRef: { name: "flags" } }] }],
              volumes: [{ name: "files", configMap: { name: "page" } }],
            },
          },
        },
      }),
    pin: async (copies) => {
      const { currentHash } = await scene.explained("deployments/web", "--pin-config");
      const pinned = formatPins(new Map(Object.entries(copies)));
      const annotations = { [configHash]: currentHash, [pinnedAnnotation]: pinned };
      await scene.merge("deployments/web", { spec: { template: { metadata: { annotations } } } }, "wave");
      return currentHash ?? "";
    },
    createRevision: async (revision, hash, pinned, cause) => {
      const { uid } = (await scene.read("deployments/web")).metadata;
      const labels = { app: "web", "pod-template-hash": `r${revision}` };
      const created = await send("POST", `${apps}/replicasets`, {
        metadata: {
          name: `web-r${revision}`,
          labels,
          annotations: {
            "deployment.kubernetes.io/revision": String(revision),
            ...(cause !== undefined && { [causeAnnotation]: cause }),
          },
          ownerReferences: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web", uid, controller: true }],
        },
        spec: {
          replicas: 0,
          selector: { matchLabels: labels },
          template: withLabels(templateOf(hash, pinned, ["page", "flags"]), labels),
        },
      });
      replicaSets.set(revision, created.uid);
    },
    createPod: async ({ revision, hash, pinned, reads }) => {
      const template = templateOf(hash, pinned, reads);
      const name = `web-${++pods}`;
      await send("POST", `${core}/pods`, {
        metadata: {
          ...template.metadata,
          name,
          labels: { app: "web", "pod-template-hash": `r${revision}` },
          ownerReferences: [
            {
              apiVersion: "apps/v1",
              kind: "ReplicaSet",
              name: `web-r${revision}`,
              uid: replicaSets.get(revision),
              controller: true,
            },
          ],
        },
        spec: { nodeName: "node-0", ...template.spec },
      });
      // Its container started before every change of the test.
      const startedAt = new Date(Date.now() - 60_000).toISOString();
      const containerStatuses = template.spec.containers.map((each) => ({
        name: each.name,
        ready: true,
        restartCount: 0,
        state: { running: { startedAt } },
      }));
      const conditions = [{ type: "Ready", status: "True" }];
      await send("PATCH", `${core}/pods/${name}/status`, {
        status: { phase: "Running", conditions, containerStatuses },
      });
    },
    complete: async () => {
      const replicas = pods;
      await scene.merge("deployments/web", { spec: { replicas } }, "kubectl-scale");
      const { metadata } = await scene.read("deployments/web");
      const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
      await send("PATCH", `${apps}/deployments/web/status`, {
        status: { observedGeneration: metadata.generation, ...counts },
      });
    },
  };
}
