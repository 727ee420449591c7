import { helm } from "../admission/admitted.ts";
import type { AnyObject, Cluster } from "../control-plane/cluster.ts";
import { until } from "../control-plane/wave-process.ts";
import { chart } from "../deploy/rendered.ts";

/** Where Wave is installed. */
export const system = "wave-system";

/** An image on the node: nginx, with a shell. */
export const nginx = "nginx:1.29-alpine";

/** A Pod with its status as the kubelet reports it. */
export interface Pod extends AnyObject {
  readonly spec: { readonly containers: readonly object[] };
  readonly status: {
    readonly phase: string;
    readonly podIP?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastTransitionTime: string;
    }[];
    readonly containerStatuses?: readonly {
      readonly containerID: string;
      readonly restartCount: number;
      readonly ready: boolean;
    }[];
  };
}

/** Creates Wave's namespace, in which Pod Security admits only restricted Pods. */
export async function makeSystem(cluster: Cluster): Promise<void> {
  const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
  await cluster.api("POST", "/api/v1/namespaces", { metadata: { name: system, labels } });
}

/** Runs `helm VERB` for the release "wave" of the chart, with webhooks, and waits until its Pods are Ready. */
export function helmWave(cluster: Cluster, verb: "install" | "upgrade", ...values: readonly string[]): Promise<string> {
  const set = ["webhooks.enabled=true", ...values].flatMap((value) => ["--set", value]);
  return helm(cluster, [verb, "wave", chart, "-n", system, "--wait", "--timeout", "240s", ...set]);
}

/** The Pods of a namespace with these labels that are not being deleted. */
export async function podsOf(cluster: Cluster, namespace: string, labels = ""): Promise<readonly Pod[]> {
  const pods = await cluster.list(`/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(labels)}`);
  return (pods as readonly Pod[]).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

/** Waits until only the newest Pods of a workload run, as `kubectl rollout status` reports. */
export function rolledOut(cluster: Cluster, namespace: string, resource: string): Promise<string> {
  return cluster.kubectl(["-n", namespace, "rollout", "status", resource, "--timeout=240s"]);
}

/** Waits until a replica leads and writes, which takes 15 s in a new cluster, and returns its Pod. */
export function leader(cluster: Cluster): Promise<Pod> {
  return until("a leader", async () => {
    for (const pod of await podsOf(cluster, system, "app.kubernetes.io/name=wave")) {
      const signal = AbortSignal.timeout(1000);
      const metrics = await fetch(`http://${pod.status.podIP}:8080/metrics`, { signal }).then(
        (response) => response.text(),
        () => "",
      );
      if (/^wave_leader 1$/m.test(metrics)) return pod;
    }
    return undefined;
  });
}

/** The ids of the containers of Wave's Pods, each with its number of restarts. */
export async function waveContainers(cluster: Cluster): Promise<readonly string[]> {
  const statuses = (await podsOf(cluster, system, "app.kubernetes.io/name=wave")).flatMap(
    ({ status }) => status.containerStatuses ?? [],
  );
  return statuses.map(({ containerID, restartCount }) => `${containerID} ${restartCount}`).toSorted();
}

/** Waits until the API server calls Wave: a dry run of a workload gets its hash. `template` is one that has opted in. */
export function admits(cluster: Cluster, namespace: string, workload: object): Promise<true> {
  return until("admission", async () => ((await hashAtCreation(cluster, namespace, workload)) ? true : undefined));
}

interface Created {
  readonly spec: { readonly template: { readonly metadata: { readonly annotations?: Record<string, string> } } };
}

/** Returns the hash with which a Deployment would be created; undefined if it would have none. */
export async function hashAtCreation(cluster: Cluster, namespace: string, workload: object) {
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments?dryRun=All`;
  const { spec } = await cluster.api<Created>("POST", path, workload);
  return spec.template.metadata.annotations?.["wave.pusher.com/config-hash"];
}
