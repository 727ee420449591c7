import type { Workload } from "../../domain/model/workload.ts";
import { resourcePath } from "../../kube/api/resources.ts";

/** Returns the API path of a workload. */
export function workloadPath({ row, namespace, name }: Pick<Workload, "row" | "namespace" | "name">): string {
  return resourcePath(row, { namespace, name });
}
