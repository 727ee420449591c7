import type { Cluster } from "../control-plane/cluster.ts";
import { until } from "../control-plane/wave-process.ts";
import { nginx, type Pod, podsOf } from "./installed.ts";
import type { RealNode } from "./node.ts";

/** The ways in which a Pod of {@link readsEverywhere} reads a page: two files that Kubernetes refreshes, one that it does not, and variables. */
export type Pages = Readonly<Record<"volume" | "projected" | "subPath" | "env" | "envFrom", string>>;

/** Returns the pages of a Pod that reads the same page in each way. */
export const everywhere = (page: string): Pages => ({
  volume: page,
  projected: page,
  subPath: page,
  env: page,
  envFrom: page,
});

const optional = true;

/**
 * Returns a pod spec that reads the key `page` of a ConfigMap in each way, and the Pod's own annotations. Its container runs `command`, by
 * default until it is killed. A ConfigMap that does not exist is read as the page "".
 */
export function readsEverywhere(name: string, command = "exec sleep infinity") {
  return {
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: "app",
        image: nginx,
        command: ["sh", "-c", command],
        env: [{ name: "PAGE", valueFrom: { configMapKeyRef: { name, key: "page", optional } } }],
        envFrom: [{ prefix: "ALL_", configMapRef: { name, optional } }],
        volumeMounts: [
          { name: "files", mountPath: "/volume" },
          { name: "one-file", mountPath: "/subPath/page", subPath: "page" },
          { name: "projected", mountPath: "/projected" },
          { name: "own", mountPath: "/own" },
        ],
      },
    ],
    volumes: [
      { name: "files", configMap: { name, optional } },
      { name: "one-file", configMap: { name, optional } },
      { name: "projected", projected: { sources: [{ configMap: { name, optional } }] } },
      {
        name: "own",
        downwardAPI: { items: [{ path: "annotations", fieldRef: { fieldPath: "metadata.annotations" } }] },
      },
    ],
  };
}

const print = (Object.keys(everywhere("")) as (keyof Pages)[]).map((way) => {
  const page = { env: "$PAGE", envFrom: "$ALL_page" }[way as string] ?? `$(cat /${way}/page 2>&-)`;
  return `echo "${way}=${page}"`;
});

/** Returns the pages that the container of a Pod reads now. */
export async function pagesOf(cluster: Cluster, namespace: string, pod: string): Promise<Pages> {
  const output = await cluster.kubectl(["-n", namespace, "exec", pod, "--", "sh", "-c", print.join("; ")]);
  return Object.fromEntries(
    output
      .trimEnd()
      .split("\n")
      .map((line) => line.split("=")),
  ) as unknown as Pages;
}

let syncs = 0;

/**
 * Makes the kubelet refresh the files of a Pod, and waits until the files are refreshed. The kubelet does this by itself within 60 to 90 s, and
 * at once if an annotation of the Pod changes: https://kubernetes.io/docs/tasks/configure-pod-container/configure-pod-configmap/
 */
export async function refresh(cluster: Cluster, namespace: string, pod: string): Promise<void> {
  // The volumes of a Pod are refreshed at the same time. So the second annotation shows that the first refresh of all volumes has ended.
  for (const _ of ["begins", "ends"]) {
    const sync = `test/sync=${++syncs}`;
    await cluster.kubectl(["-n", namespace, "annotate", "--overwrite", "pod", pod, sync]);
    await until(`files with the annotation ${sync} in ${pod}`, async () => {
      const own = await cluster.kubectl(["-n", namespace, "exec", pod, "--", "cat", "/own/annotations"]);
      return own.includes(`test/sync="${syncs}"`) ? true : undefined;
    });
  }
}

/** Kills the process of a Pod's container, and waits until Kubernetes has started the container again. */
export async function restartContainer({ cluster, inside }: RealNode, pod: Pod): Promise<void> {
  const { namespace = "", name, uid } = pod.metadata;
  const id = pod.status.containerStatuses?.[0]?.containerID.replace("containerd://", "") ?? "";
  await inside("ctr", "-n", "k8s.io", "task", "kill", "--signal", "SIGKILL", id);
  await until(`the container of ${name} to be started again`, async () => {
    const pods = await podsOf(cluster, namespace);
    const status = pods.find(({ metadata }) => metadata.uid === uid)?.status.containerStatuses?.[0];
    return status !== undefined && status.restartCount > 0 ? true : undefined;
  });
}

/** Returns the codes with which the container of a Pod has ended by itself or by a signal. */
export async function exitCodes(cluster: Cluster, { metadata }: Pod): Promise<readonly number[]> {
  const codes = "jsonpath={.status.containerStatuses[0]..exitCode}";
  const output = await cluster.kubectl(["-n", metadata.namespace ?? "", "get", "pod", metadata.name, "-o", codes]);
  return output.split(" ").map(Number);
}
