import type { WorkloadKind } from "./kind-row.ts";

/** Which workload is meant. */
export interface WorkloadName {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
}

/** The key of a workload in stores and queues: `Deployment/namespace/name`. */
export function workloadKey({ kind, namespace, name }: WorkloadName): string {
  return `${kind}/${namespace}/${name}`;
}

/** The namespace in a key as {@link workloadKey} makes it. */
export function namespaceOf(key: string): string {
  return key.slice(key.indexOf("/") + 1, key.lastIndexOf("/"));
}

/** What {@link workloadKey} was made of; throws an Error where the text is no such key. */
export function parseWorkloadKey(key: string): WorkloadName {
  const [kind, namespace, name, ...rest] = key.split("/");
  if (!kind || !namespace || !name || rest.length > 0) throw new Error(`"${key}" is not the key of a workload`);
  return { kind, namespace, name };
}
