import { type Resource, resourcePath, resources } from "../kube/resources.ts";
import type { WorkloadKind, WorkloadName } from "../rollout/workload.ts";

const workloadResources: Readonly<Record<WorkloadKind, Resource>> = {
  Deployment: resources.deployments,
  StatefulSet: resources.statefulSets,
  DaemonSet: resources.daemonSets,
};

/** Where the API server keeps a workload. */
export function workloadPath({ kind, namespace, name }: WorkloadName): string {
  return resourcePath(workloadResources[kind], { namespace, name });
}
