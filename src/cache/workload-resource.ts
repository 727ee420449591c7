import { resourcePath } from "../kube/resources.ts";
import type { Workload } from "../rollout/workload.ts";

/** Where the API server keeps a workload. */
export function workloadPath({ row, namespace, name }: Pick<Workload, "row" | "namespace" | "name">): string {
  return resourcePath(row, { namespace, name });
}
