import type { Pod } from "#kubernetes";
import { builtInKinds } from "../../../domain/model/built-in-kinds.ts";
import { isOfKind } from "../../../domain/model/kind-row.ts";
import { fieldsOf } from "../../../domain/model/kinds/replica-counts.ts";
import { type WorkloadName, type WorkloadRow, workloadKey } from "../../../domain/model/workload.ts";
import { configHash, workloadRefHash } from "../../../domain/references/annotations.ts";
import type { KubeObject } from "../../../kube/api/api-types.ts";
import { resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { errorText } from "../../../telemetry/logging/error-text.ts";
import { type ListScope, listAll } from "../requests/list-all.ts";

/** The number of Pods with each hash; Pods without a hash have the key undefined. */
export type PodHashes = ReadonlyMap<string | undefined, number>;

/** The Pods of a namespace, by the workload that owns them, or the cause of a failed read. */
export type ReadPods =
  | { readonly state: "read"; readonly of: (workload: WorkloadName) => PodHashes }
  | { readonly state: "unread"; readonly why: string };

type PodObject = KubeObject & Pick<Pod, "status">;

/**
 * Lists Pods and counts them by workload and hash. Pods that are being deleted or have ended are not counted, because they no longer
 * serve. Never rejects.
 */
export async function readPods(
  client: ApiClient,
  scope: ListScope,
  kinds: readonly WorkloadRow[] = builtInKinds,
): Promise<ReadPods> {
  const counts = new Map<string, Map<string | undefined, number>>();
  try {
    const running = await listAll<PodObject, readonly [string, string | undefined]>(
      client,
      resources.pods,
      scope,
      (pod) => {
        const owner = ownerOf(pod, kinds);
        const { annotations } = pod.metadata;
        const hash = annotations?.[workloadRefHash] ?? annotations?.[configHash];
        return owner && isRunning(pod) ? [workloadKey(owner), hash] : undefined;
      },
    );
    for (const [key, hash] of running) {
      const hashes = counts.get(key) ?? new Map();
      hashes.set(hash, (hashes.get(hash) ?? 0) + 1);
      counts.set(key, hashes);
    }
  } catch (error) {
    return { state: "unread", why: errorText(error) };
  }
  return { state: "read", of: (workload) => counts.get(workloadKey(workload)) ?? new Map() };
}

/** The number of Pods, and of those that run with the current configuration. */
export interface PodCount {
  readonly total: number;
  readonly current: number;
}

/** Counts the Pods, and those whose hash matches the current configuration. */
export function countPods(hashes: PodHashes, isCurrent: (hash: string | undefined) => boolean): PodCount {
  let [total, current] = [0, 0];
  for (const [hash, count] of hashes) {
    total += count;
    if (isCurrent(hash)) current += count;
  }
  return { total, current };
}

/**
 * Returns the Pod selector of a workload in the syntax of `kubectl -l`. Malformed parts, which a custom resource may have, are left out.
 * More Pods match then, and their owner references show which workload owns them.
 */
export function podSelector(selector: unknown): string {
  const { matchLabels, matchExpressions } = fieldsOf(selector);
  const equal = Object.entries(fieldsOf(matchLabels)).filter(([, value]) => typeof value === "string");
  const expressions: readonly unknown[] = Array.isArray(matchExpressions) ? matchExpressions : [];
  return [...equal.map(([key, value]) => `${key}=${value}`), ...expressions.flatMap(requirementOf)].join(",");
}

/** Converts one match expression of apps/v1 (https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/label-selector/). */
function requirementOf(expression: unknown): readonly string[] {
  const { key, operator, values } = fieldsOf(expression);
  if (typeof key !== "string") return [];
  const listed = `(${(Array.isArray(values) ? values : []).join(",")})`;
  switch (operator) {
    case "In":
      return [`${key} in ${listed}`];
    case "NotIn":
      return [`${key} notin ${listed}`];
    case "Exists":
      return [key];
    case "DoesNotExist":
      return [`!${key}`];
    default:
      return [];
  }
}

/**
 * Returns the workload that owns a Pod. The name of a ReplicaSet is the name of its Deployment plus the template hash, which its Pods
 * have as a label (https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#pod-template-hash-label). So ReplicaSets,
 * ten times as many as Deployments, need not be read.
 */
function ownerOf({ metadata }: PodObject, kinds: readonly WorkloadRow[]): WorkloadName | undefined {
  const { namespace = "", labels = {}, ownerReferences = [] } = metadata;
  const owner = ownerReferences.find(({ controller }) => controller);
  if (owner === undefined) return undefined;
  const row = kinds.find((each) => each.replicaSetLabel === "" && isOfKind(owner, each));
  if (row !== undefined) return { kind: row.id, namespace, name: owner.name };
  if (owner.kind !== "ReplicaSet") return undefined;
  for (const { id, replicaSetLabel } of kinds) {
    const suffix = `-${(replicaSetLabel && labels[replicaSetLabel]) ?? ""}`;
    if (suffix === "-" || !owner.name.endsWith(suffix)) continue;
    return { kind: id, namespace, name: owner.name.slice(0, -suffix.length) };
  }
  return undefined;
}

function isRunning({ metadata, status }: PodObject): boolean {
  return !metadata.deletionTimestamp && status?.phase !== "Succeeded" && status?.phase !== "Failed";
}
