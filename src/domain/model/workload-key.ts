import type { WorkloadKind } from "./kind-row.ts";

/** The kind, namespace and name of a workload. */
export interface WorkloadName {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
}

/** Returns the key of a workload in stores and queues: `Deployment/namespace/name`. */
export function workloadKey({ kind, namespace, name }: WorkloadName): string {
  return `${kind}/${namespace}/${name}`;
}

/** Returns the namespace in a key of {@link workloadKey}. */
export function namespaceOf(key: string): string {
  return key.slice(key.indexOf("/") + 1, key.lastIndexOf("/"));
}

/** Parses a key of {@link workloadKey}. Throws an Error if the text is not such a key. */
export function parseWorkloadKey(key: string): WorkloadName {
  const [kind, namespace, name, ...rest] = key.split("/");
  if (!kind || !namespace || !name || rest.length > 0) throw new Error(`"${key}" is not the key of a workload`);
  return { kind, namespace, name };
}
