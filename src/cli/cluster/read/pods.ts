import type { Pod } from "#kubernetes";
import { builtInKinds } from "../../../domain/model/built-in-kinds.ts";
import { isOfKind } from "../../../domain/model/kind-row.ts";
import { fieldsOf } from "../../../domain/model/kinds/replica-counts.ts";
import { podReferences } from "../../../domain/model/pod-references.ts";
import { type WorkloadName, type WorkloadRow, workloadKey } from "../../../domain/model/workload.ts";
import { configHash, pinnedAnnotation, workloadRefHash } from "../../../domain/references/annotations.ts";
import { epochSeconds } from "../../../domain/references/field-managers.ts";
import { configKey } from "../../../domain/references/references.ts";
import type { KubeObject } from "../../../kube/api/api-types.ts";
import { resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { errorText } from "../../../telemetry/logging/error-text.ts";
import { type ListScope, listAll } from "../requests/list-all.ts";

/** What a running Pod shows about the configuration that it reads. */
export interface RunningPod {
  /** The hash of the pod template that it was created from. */
  readonly hash: string | undefined;
  /** The raw annotation with its pins, which its references need not follow; undefined if absent. */
  readonly pinned: string | undefined;
  /** The label that its ReplicaSet or ControllerRevision also has; undefined if absent. */
  readonly revision: string | undefined;
  /** In seconds since the epoch; 0 if unknown. */
  readonly startedAt: number;
  /** The keys of the objects that its spec mounts. */
  readonly files: ReadonlySet<string>;
  /** The keys of the objects that its spec reads as environment variables. */
  readonly env: ReadonlySet<string>;
}

/** The Pods of a namespace, by the workload that owns them, or the cause of a failed read. */
export type ReadPods =
  | { readonly state: "read"; readonly of: (workload: WorkloadName) => readonly RunningPod[] }
  | { readonly state: "unread"; readonly why: string };

type PodObject = KubeObject & Pick<Pod, "spec" | "status">;

/** The label of Pods of StatefulSets, DaemonSets and the kinds of OpenKruise. */
const revisionLabel = "controller-revision-hash";

/**
 * Lists Pods by workload. Pods that are being deleted or have ended are left out, because they no longer serve. Never rejects.
 */
export async function readPods(
  client: ApiClient,
  scope: ListScope,
  kinds: readonly WorkloadRow[] = builtInKinds,
): Promise<ReadPods> {
  try {
    const running = await listAll<PodObject, readonly [string, RunningPod]>(client, resources.pods, scope, (pod) => {
      const owner = ownerOf(pod, kinds);
      return owner && isRunning(pod) ? [workloadKey(owner), runningPod(pod, kinds, owner)] : undefined;
    });
    const byWorkload = Map.groupBy(running, ([key]) => key);
    return {
      state: "read",
      of: (workload) => byWorkload.get(workloadKey(workload))?.map(([, pod]) => pod) ?? [],
    };
  } catch (error) {
    return { state: "unread", why: errorText(error) };
  }
}

function runningPod(
  { metadata, spec, status }: PodObject,
  kinds: readonly WorkloadRow[],
  owner: WorkloadName,
): RunningPod {
  const { namespace = "", annotations = {}, labels = {}, creationTimestamp } = metadata;
  const { replicaSetLabel = "" } = kinds.find(({ id }) => id === owner.kind) ?? {};
  const [files, env] = [new Set<string>(), new Set<string>()];
  if (spec !== undefined)
    podReferences(spec, namespace, (each) => (each.reads === "env" ? env : files).add(configKey(each)));
  return {
    hash: annotations[workloadRefHash] ?? annotations[configHash],
    pinned: annotations[pinnedAnnotation],
    revision: labels[replicaSetLabel || revisionLabel],
    startedAt: epochSeconds(status?.startTime ?? creationTimestamp),
    files,
    env,
  };
}

/** The number of Pods, and of those that run with the current configuration. */
export interface PodCount {
  readonly total: number;
  readonly current: number;
}

/** Counts the Pods, and those that run with the current configuration. */
export function countPods(pods: readonly RunningPod[], isCurrent: (pod: RunningPod) => boolean): PodCount {
  return { total: pods.length, current: pods.filter(isCurrent).length };
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
