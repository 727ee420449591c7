import type { Cluster } from "./cluster.ts";

/** Makes a ready node for Pods that a test plays. The taint keeps all other Pods away. */
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
}
