import type { AnyObject, Cluster } from "../control-plane/cluster.ts";
import { until } from "../control-plane/wave-process.ts";

const group = "secrets-store.csi.x-k8s.io";
const plural = "secretproviderclasspodstatuses";

/** The resource of the driver's that Wave watches, as its documentation describes it: without a status subresource. */
const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: {
      kind: "SecretProviderClassPodStatus",
      listKind: "SecretProviderClassPodStatusList",
      plural,
      singular: "secretproviderclasspodstatus",
    },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              apiVersion: { type: "string" },
              kind: { type: "string" },
              metadata: { type: "object" },
              status: {
                type: "object",
                properties: {
                  mounted: { type: "boolean" },
                  podName: { type: "string" },
                  secretProviderClassName: { type: "string" },
                  targetPath: { type: "string" },
                  objects: {
                    type: "array",
                    items: {
                      type: "object",
                      properties: { id: { type: "string" }, version: { type: "string" } },
                    },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};

/** Makes the API know the driver's resource. */
export async function installDriver(cluster: Cluster): Promise<void> {
  await cluster.api("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
  await until("the driver's resource", () => cluster.list(`/apis/${group}/v1/${plural}`));
}

/** Takes the driver's resource away, and all objects of it. */
export async function removeDriver(cluster: Cluster): Promise<void> {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definition.metadata.name}`;
  await cluster.api("DELETE", path).catch(() => {});
}

/** A volume of a class in a pod spec. */
export const volumeOf = (className: string) => ({
  name: "vault",
  csi: { driver: "secrets-store.csi.k8s.io", readOnly: true, volumeAttributes: { secretProviderClass: className } },
});

/** What the driver does in one namespace: it writes a status for each Pod, and nobody else does. */
export class Driver {
  readonly #cluster: Cluster;
  readonly #path: string;
  readonly #pods: string;
  readonly #namespace: string;

  constructor(cluster: Cluster, namespace: string) {
    this.#cluster = cluster;
    this.#namespace = namespace;
    this.#path = `/apis/${group}/v1/namespaces/${namespace}/${plural}`;
    this.#pods = `/api/v1/namespaces/${namespace}/pods`;
  }

  /** The Pods of a workload that are not about to go, once there are so many. */
  pods(app: string, count: number): Promise<readonly AnyObject[]> {
    return until(`${count} Pods of ${app}`, async () => {
      const all = await this.#cluster.list(`${this.#pods}?labelSelector=app%3D${app}`);
      const left = all.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      return left.length === count ? left : undefined;
    });
  }

  /** As a Pod mounts the volume, and as what it mounted is fetched again. An update that changes nothing is no write. */
  async publish(pod: AnyObject, className: string, versions: Readonly<Record<string, string>>): Promise<void> {
    const { name, uid } = pod.metadata;
    const object = {
      apiVersion: `${group}/v1`,
      kind: "SecretProviderClassPodStatus",
      metadata: {
        name: `${name}-${this.#namespace}-${className}`,
        labels: { "internal.secrets-store.csi.k8s.io/node-name": "node" },
        ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid }],
      },
      status: {
        podName: name,
        secretProviderClassName: className,
        mounted: true,
        targetPath: `/var/lib/kubelet/pods/${uid}/volumes/kubernetes.io~csi/vault/mount`,
        objects: Object.entries(versions).map(([id, version]) => ({ id, version })),
      },
    };
    const path = `${this.#path}/${object.metadata.name}`;
    const before = await this.#cluster.api("GET", path).catch(() => undefined);
    if (before === undefined) await this.#cluster.api("POST", this.#path, object);
    else {
      const metadata = { ...object.metadata, resourceVersion: before.metadata.resourceVersion };
      await this.#cluster.api("PUT", path, { ...object, metadata });
    }
  }

  /** As the garbage collector does: the statuses of Pods that are gone go. */
  async collect(): Promise<void> {
    const pods = new Set((await this.#cluster.list(this.#pods)).map(({ metadata }) => metadata.uid));
    for (const { metadata } of await this.#cluster.list(this.#path)) {
      if (metadata.ownerReferences?.some(({ uid }) => pods.has(uid))) continue;
      await this.#cluster.api("DELETE", `${this.#path}/${metadata.name}`).catch(() => {});
    }
  }
}
