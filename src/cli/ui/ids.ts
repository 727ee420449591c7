import type { WorkloadName } from "../../domain/model/workload.ts";
import type { Id } from "./model.ts";

/** Returns the ID of the rows of a context. A name of a context may contain any characters. */
export function clusterId(context: string): Id {
  return encodeURIComponent(context);
}

/** Returns the ID of a workload: `CLUSTER/NAMESPACE/KIND/NAME`. */
export function workloadId(cluster: Id, { kind, namespace, name }: WorkloadName): Id {
  return [cluster, namespace, kind.toLowerCase(), name].join("/");
}

/** Returns the parts of an ID of a workload; undefined if it is none. */
export function parseWorkloadId(
  id: Id,
): { readonly cluster: Id; readonly namespace: string; readonly kind: string; readonly name: string } | undefined {
  const [cluster, namespace, kind, name, ...rest] = id.split("/");
  if (cluster === undefined || !namespace || !kind || !name || rest.length > 0) return undefined;
  return { cluster, namespace, kind, name };
}

/** Reports whether a row is of a cluster, or of one of some namespaces in it. */
export function isRowIn(id: Id, cluster: Id, namespaces: ReadonlySet<string> | "all"): boolean {
  const [own, namespace = ""] = id.split("/", 2);
  return own === cluster && (namespaces === "all" || namespaces.has(namespace));
}
