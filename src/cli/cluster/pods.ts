import type { Pod } from "kubernetes-types/core/v1.d.ts";
import { builtInKinds } from "../../domain/model/built-in-kinds.ts";
import { isOfKind } from "../../domain/model/kind-row.ts";
import { fieldsOf } from "../../domain/model/kinds/replica-counts.ts";
import { type WorkloadName, type WorkloadRow, workloadKey } from "../../domain/model/workload.ts";
import { configHash, workloadRefHash } from "../../domain/references/annotations.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import { type ListScope, listAll } from "./list-all.ts";

/** How many Pods carry each hash; the Pods without one under undefined. */
export type PodHashes = ReadonlyMap<string | undefined, number>;

/** The Pods of a namespace, by the workload that owns them, or why they could not be read. */
export type ReadPods =
  | { readonly state: "read"; readonly of: (workload: WorkloadName) => PodHashes }
  | { readonly state: "unread"; readonly why: string };

type PodObject = KubeObject & Pick<Pod, "status">;

/**
 * Lists Pods and counts them by workload and hash. Never rejects. What is being deleted, or has ended and only lies about,
 * is none: nothing serves from it.
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
        return owner && isThere(pod) ? [workloadKey(owner), hash] : undefined;
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

/** How many Pods there are, and how many of them run with the current configuration. */
export interface PodCount {
  readonly total: number;
  readonly current: number;
}

/** Counts Pods by whether their hash stands for the current configuration. */
export function countPods(hashes: PodHashes, isCurrent: (hash: string | undefined) => boolean): PodCount {
  let [total, current] = [0, 0];
  for (const [hash, count] of hashes) {
    total += count;
    if (isCurrent(hash)) current += count;
  }
  return { total, current };
}

/**
 * The selector of a workload's own Pods, as `kubectl -l` writes it. A part that is malformed, as a custom resource may
 * have it, is left out. Then more Pods match, and their owners tell whose they are.
 */
export function podSelector(selector: unknown): string {
  const { matchLabels, matchExpressions } = fieldsOf(selector);
  const equal = Object.entries(fieldsOf(matchLabels)).filter(([, value]) => typeof value === "string");
  const expressions: readonly unknown[] = Array.isArray(matchExpressions) ? matchExpressions : [];
  return [...equal.map(([key, value]) => `${key}=${value}`), ...expressions.flatMap(requirementOf)].join(",");
}

/** As in apps/v1 (https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/label-selector/). */
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
 * The workload that owns a Pod. A ReplicaSet of a Deployment is called after it and the hash of its template, which its Pods
 * have as a label (https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#pod-template-hash-label), so
 * nobody needs to read ReplicaSets, of which there are ten times as many as Deployments.
 */
function ownerOf({ metadata }: PodObject, kinds: readonly WorkloadRow[]): WorkloadName | undefined {
  const { namespace = "", labels = {}, ownerReferences = [] } = metadata;
  const owner = ownerReferences.find(({ controller }) => controller);
  if (owner === undefined) return undefined;
  const row = kinds.find((each) => each.podsBy === "" && isOfKind(owner, each));
  if (row !== undefined) return { kind: row.id, namespace, name: owner.name };
  if (owner.kind !== "ReplicaSet") return undefined;
  for (const { id, podsBy } of kinds) {
    const suffix = `-${(podsBy && labels[podsBy]) ?? ""}`;
    if (suffix === "-" || !owner.name.endsWith(suffix)) continue;
    return { kind: id, namespace, name: owner.name.slice(0, -suffix.length) };
  }
  return undefined;
}

function isThere({ metadata, status }: PodObject): boolean {
  return !metadata.deletionTimestamp && status?.phase !== "Succeeded" && status?.phase !== "Failed";
}
