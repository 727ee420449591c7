import type { AnyObject, Cluster } from "../control-plane/cluster.ts";
import { until } from "../control-plane/wave-process.ts";

const group = "secrets-store.csi.x-k8s.io";
const plural = "secretproviderclasspodstatuses";

/** The resource of the driver that Wave watches, as its documentation describes it: without a status subresource. */
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

/** Adds the driver's resource to the API. */
export async function installDriver(cluster: Cluster): Promise<void> {
  await cluster.api("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
  await until("the driver's resource", () => cluster.list(`/apis/${group}/v1/${plural}`));
}

/** Removes the driver's resource and all its objects. */
export async function removeDriver(cluster: Cluster): Promise<void> {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definition.metadata.name}`;
  await cluster.api("DELETE", path).catch(() => {});
}

/** Adds a kind with any content to the API, as other projects install it. */
export async function installKind(cluster: Cluster, group: string, kind: string): Promise<void> {
  const [singular, names] = [kind.toLowerCase(), kind.toLowerCase().replace(/s?$/, kind.endsWith("s") ? "ses" : "s")];
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const spec = {
    ...{ group, scope: "Namespaced", names: { kind, plural: names, singular } },
    versions: [{ name: "v1", served: true, storage: true, schema }],
  };
  const body = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${names}.${group}` },
    spec,
  };
  await cluster.api("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body);
  await until(`the kind ${kind}`, () => cluster.list(`/apis/${group}/v1/${names}`));
}

/** Returns a volume of a class for a pod spec. */
export const volumeOf = (className: string) => ({
  name: "vault",
  csi: { driver: "secrets-store.csi.k8s.io", readOnly: true, volumeAttributes: { secretProviderClass: className } },
});

/** Simulates the driver in one namespace: only the driver writes a status for each Pod. */
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

  /** Resolves to the Pods of a workload that are not being deleted, when their number is as expected. */
  pods(app: string, count: number): Promise<readonly AnyObject[]> {
    return until(`${count} Pods of ${app}`, async () => {
      const all = await this.#cluster.list(`${this.#pods}?labelSelector=app%3D${app}`);
      const left = all.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      return left.length === count ? left : undefined;
    });
  }

  /** Writes the status as when a Pod mounts the volume or the content is fetched again. An update without a change is no write. */
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
      await this.#cluster.api("PUT", path, { ...object, metadata }).catch((error: Error) => {
        // The garbage collector deletes the status of a Pod that was replaced meanwhile.
        if (!error.message.includes(": 404 ")) throw error;
      });
    }
  }

  /** Deletes the statuses of deleted Pods, as the garbage collector does. */
  async collect(): Promise<void> {
    const pods = new Set((await this.#cluster.list(this.#pods)).map(({ metadata }) => metadata.uid));
    for (const { metadata } of await this.#cluster.list(this.#path)) {
      if (metadata.ownerReferences?.some(({ uid }) => pods.has(uid))) continue;
      await this.#cluster.api("DELETE", `${this.#path}/${metadata.name}`).catch(() => {});
    }
  }
}
