import type { PodSpec } from "#kubernetes";
import { configMapsOf } from "../../src/domain/pinning/pod-pins.ts";
import type { AnyObject, Cluster } from "../control-plane/cluster.ts";
import { makeNode } from "../control-plane/played-node.ts";

/**
 * A node in this process. A container of its Pods crashes at its start if a ConfigMap that it reads has the page "bad", and does not start
 * while a ConfigMap does not exist from which it needs variables.
 */
export interface PageKubelet {
  /** The fields of a pod spec whose Pods run here. */
  readonly placement: object;
  /** Reports whether a Pod of an application has crashed. */
  readonly crashes: (app: string) => boolean;
  readonly stop: () => Promise<void>;
}

type StartedPod = AnyObject & {
  readonly spec: PodSpec;
  readonly metadata: { readonly labels?: { readonly app?: string } };
};

/** Starts the node for the Pods of one namespace. */
export async function startPageKubelet(cluster: Cluster, namespace: string): Promise<PageKubelet> {
  const node = `node-of-${namespace}`;
  const taint = { key: "test/pages", effect: "NoSchedule" };
  await makeNode(cluster, node, taint);
  const seen = new Set<string>();
  const crashed = new Set<string>();
  let stopped = false;
  const waitingReason = async (pod: StartedPod): Promise<string | undefined> => {
    const needed = pod.spec.containers.flatMap(({ envFrom = [] }) =>
      envFrom.flatMap(({ configMapRef }) => (configMapRef?.optional ? [] : (configMapRef?.name ?? []))),
    );
    for (const name of configMapsOf(pod.spec)) {
      const path = `/api/v1/namespaces/${namespace}/configmaps/${name}`;
      const read = await cluster.api<AnyObject & { data?: { page?: string } }>("GET", path).catch((error: Error) => {
        if (!error.message.includes(": 404 ")) throw error;
      });
      if (read === undefined && needed.includes(name)) return "CreateContainerConfigError";
      if (read?.data?.page === "bad") return "CrashLoopBackOff";
    }
    return undefined;
  };
  const startNew = async () => {
    const path = `/api/v1/namespaces/${namespace}/pods?fieldSelector=spec.nodeName=${node}`;
    for (const pod of (await cluster.list(path)) as readonly StartedPod[]) {
      const { uid, name, deletionTimestamp, labels } = pod.metadata;
      if (deletionTimestamp !== undefined || seen.has(uid)) continue;
      const reason = await waitingReason(pod);
      if (reason === "CrashLoopBackOff") crashed.add(labels?.app ?? "");
      const status = `/api/v1/namespaces/${namespace}/pods/${name}/status`;
      await cluster.api("PATCH", status, { status: statusOf(reason) }, "application/merge-patch+json").then(
        () => seen.add(uid),
        () => {},
      );
    }
  };
  const run = async () => {
    while (!stopped) {
      await startNew().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const done = run();
  return {
    placement: { nodeSelector: { "kubernetes.io/hostname": node }, tolerations: [taint] },
    crashes: (app) => crashed.has(app),
    stop: async () => {
      stopped = true;
      await done;
      await cluster.api("DELETE", `/api/v1/nodes/${node}`);
    },
  };
}

/** Returns the status of a Pod whose container waits for this reason, or runs. */
function statusOf(reason: string | undefined) {
  const ready = reason === undefined;
  const now = new Date().toISOString();
  const condition = (type: string, isTrue: boolean) => ({
    type,
    status: isTrue ? "True" : "False",
    lastTransitionTime: now,
  });
  const state = ready ? { running: { startedAt: now } } : { waiting: { reason } };
  const lastState = reason === "CrashLoopBackOff" ? { terminated: { exitCode: 1, reason: "Error" } } : {};
  const container = { name: "app", image: "nginx", imageID: "", restartCount: ready ? 0 : 1, state, lastState };
  return {
    phase: "Running",
    startTime: now,
    conditions: [
      condition("Initialized", true),
      condition("PodScheduled", true),
      condition("ContainersReady", ready),
      condition("Ready", ready),
    ],
    containerStatuses: [{ ...container, ready, started: ready }],
  };
}
