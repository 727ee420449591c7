import type { Cluster } from "./cluster.ts";
import { until } from "./wave-process.ts";

/**
 * Makes a node for Pods that a test plays, and waits until it is ready. The taint keeps all other Pods away. The API server creates each node
 * with a taint `not-ready`. While a node has it, a DaemonSet wants no Pod there, and without Pods its rollout counts as complete.
 */
export async function makeNode(cluster: Cluster, name: string, taint: object): Promise<void> {
  const resources = { cpu: "10000", memory: "10000Gi", pods: "100000" };
  const now = new Date().toISOString();
  const ready = {
    type: "Ready",
    status: "True",
    reason: "KubeletReady",
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  };
  await cluster.api("POST", "/api/v1/nodes", {
    metadata: { name, labels: { "kubernetes.io/hostname": name } },
    spec: { taints: [taint] },
    status: { allocatable: resources, capacity: resources, conditions: [ready] },
  });
  await until(`node ${name} to be ready`, async () => {
    const { spec } = await cluster.api<Node>("GET", `/api/v1/nodes/${name}`);
    return spec.taints?.every(({ key }) => key !== "node.kubernetes.io/not-ready") || undefined;
  });
}

interface Node {
  readonly spec: { readonly taints?: readonly { readonly key: string }[] };
}
