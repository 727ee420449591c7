import type { Pod } from "#kubernetes";
import { readWithBorrowedTemplate, withBorrowedTemplate } from "../../../cache/workloads/workload-reads.ts";
import type { DirectiveContext } from "../../../domain/compatibility/directives.ts";
import { standardForm, type WorkloadRow } from "../../../domain/model/kind-row.ts";
import { builtInKinds } from "../../../domain/model/kinds/apps-kinds.ts";
import { podReferences } from "../../../domain/model/pod-references.ts";
import { toWorkload, toWorkloadIfValid } from "../../../domain/model/workload.ts";
import type { WorkloadObject } from "../../../domain/model/workload-references.ts";
import {
  parseWorkloadKey,
  type Workload,
  type WorkloadName,
  workloadKey,
} from "../../../domain/model/workload-shape.ts";
import { mayWaitForVolume, withVolumeReason } from "../../../domain/pods/new-pods.ts";
import { everyObject, type ObservedPod, observePod, volumeReason } from "../../../domain/pods/observed-pod.ts";
import { type HashPlace, hashAnnotations, podHash, podOwner } from "../../../domain/pods/pod-owner.ts";
import { type PodTimes, podTimes } from "../../../domain/pods/pod-state.ts";
import { pinnedAnnotation } from "../../../domain/references/annotations.ts";
import { epochSeconds } from "../../../domain/references/field-managers.ts";
import { configKey } from "../../../domain/references/references.ts";
import { formatList } from "../../../domain/syntax/names.ts";
import { type KubeObject, resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { eventMessage } from "../../../kube/reads/reads.ts";
import { errorText } from "../../../telemetry/logging/log-messages.ts";
import type { Cluster } from "../../command/cluster-command.ts";
import { objectNotFound } from "../../command/command.ts";
import type { WorkloadArgument } from "../../command/workload-argument.ts";
import { type ListScope, listAll, mapBounded } from "../requests.ts";
import type { KnownPolicy } from "../running-wave/known-policy.ts";

/** A workload object in its standard form, and the parsed workload. */
export interface FoundWorkload {
  readonly object: WorkloadObject;
  readonly workload: Workload;
}

/** Reads one workload by name, with the pod template of its source. Throws a CommandFailure if it does not exist, otherwise what {@link ApiClient.request} throws. */
export async function readWorkload(
  { client, source }: Pick<Cluster, "client" | "source">,
  { kind, resource, name }: WorkloadArgument,
  namespace: string,
): Promise<WorkloadObject> {
  const found = await readWithBorrowedTemplate(client, resource, { namespace, name }, {});
  if (found === undefined) throw objectNotFound(kind, name, namespace, source);
  return found;
}

/**
 * Lists the workloads that opted in themselves or by their Namespace, and those whose opt-in annotation is invalid; with `isWanted` other
 * ones. `failures` has one line for each failed read. Throws what {@link ApiClient.stream} throws if no kind can be listed.
 */
export async function listWorkloads(
  client: ApiClient,
  scope: ListScope,
  directiveContext: DirectiveContext & Pick<KnownPolicy, "kinds">,
  isWanted: (workload: Workload) => boolean = ({ optIn }) => optIn.state !== "out",
): Promise<{ readonly found: readonly FoundWorkload[]; readonly failures: readonly string[] }> {
  const failures: unknown[] = [];
  const unread: string[] = [];
  const lists = directiveContext.kinds.map(async (row) => {
    try {
      return await listAll<KubeObject & WorkloadObject, FoundWorkload>(client, row, scope, (object) => {
        const workload = toWorkloadIfValid(row, object, directiveContext);
        if (workload === undefined || !isWanted(workload)) return undefined;
        if (workload.templateSource === undefined) return { object: standardForm(row, object), workload };
        return withBorrowedTemplate(client, row, object).then(
          (whole) => ({ object: standardForm(row, whole), workload: toWorkload(row, whole, directiveContext) }),
          (error: unknown) => {
            unread.push(`${workloadKey(workload)}: ${errorText(error)}`);
            return undefined;
          },
        );
      });
    } catch (error) {
      failures.push(error);
      return [];
    }
  });
  const found = (await Promise.all(lists)).flat();
  if (failures.length === directiveContext.kinds.length) throw failures[0];
  const withoutTemplate =
    unread.length === 0
      ? []
      : [`Cannot read the pod templates that workloads reference: ${formatList(unread, 2, (one) => one)}`];
  return { found, failures: [...failures.map(errorText), ...withoutTemplate] };
}

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
  /** Its containers: when they read configuration, whether they are ready, and how often they restarted. */
  readonly observed: ObservedPod;
  readonly times: PodTimes;
  /** The keys of the objects that its spec mounts. */
  readonly files: ReadonlySet<string>;
  /** The keys of the objects that its spec reads as environment variables. */
  readonly env: ReadonlySet<string>;
}

/** A Pod whose workload is not known yet, with the annotations that may have its hash. */
type UnresolvedPod = Omit<RunningPod, "hash"> & { readonly hashes: ReturnType<typeof hashAnnotations> };

/** The Pods of a namespace, by the workload that owns them, or the cause of a failed read. */
export type ReadPods =
  | {
      readonly state: "read";
      /** When they were read, by the clock of the API server as their own times, in milliseconds since the epoch. Undefined: not known. */
      readonly at?: number | undefined;
      readonly of: (workload: WorkloadName & HashPlace) => readonly RunningPod[];
      /** Pods that are being deleted, and whose containers may still run. */
      readonly terminating: (workload: WorkloadName & HashPlace) => readonly RunningPod[];
    }
  | { readonly state: "unread"; readonly why: string };

type PodObject = KubeObject & Pick<Pod, "spec" | "status">;

/** The label of Pods of StatefulSets, DaemonSets and the kinds of OpenKruise. */
const revisionLabel = "controller-revision-hash";

/** Lists Pods by workload, without those that have ended. Pods that are being deleted are apart: they no longer serve. Never rejects. */
export async function readPods(
  client: ApiClient,
  scope: ListScope,
  kinds: readonly WorkloadRow[] = builtInKinds,
): Promise<ReadPods> {
  try {
    let at: number | undefined;
    const timed: ListScope = {
      ...scope,
      answered: (seconds) => {
        at ??= seconds === undefined ? undefined : seconds * 1000;
      },
    };
    const listed = await listAll<PodObject, readonly [string, UnresolvedPod]>(client, resources.pods, timed, (pod) => {
      const owner = podOwner(pod.metadata, kinds);
      return owner && hasNotEnded(pod) ? [workloadKey(owner), runningPod(pod, kinds, owner)] : undefined;
    });
    const running = await withVolumes(client, listed, at ?? Date.now());
    const byWorkload = Map.groupBy(running, ([key]) => key);
    const podsOf = (workload: WorkloadName & HashPlace, isEnding: boolean) =>
      (byWorkload.get(workloadKey(workload)) ?? []).flatMap(([, pod]) =>
        pod.observed.ending === isEnding ? [withHash(pod, workload)] : [],
      );
    return {
      state: "read",
      at,
      of: (workload) => podsOf(workload, false),
      terminating: (workload) => podsOf(workload, true),
    };
  } catch (error) {
    return { state: "unread", why: errorText(error) };
  }
}

function runningPod(pod: PodObject, kinds: readonly WorkloadRow[], owner: WorkloadName): UnresolvedPod {
  const { metadata, spec, status } = pod;
  const { namespace = "", annotations = {}, labels = {}, creationTimestamp } = metadata;
  const { replicaSetLabel = "" } = kinds.find(({ id }) => id === owner.kind) ?? {};
  const [files, env] = [new Set<string>(), new Set<string>()];
  if (spec !== undefined)
    podReferences(spec, namespace, (each) => (each.reads === "env" ? env : files).add(configKey(each)));
  return {
    hashes: hashAnnotations(annotations),
    pinned: annotations[pinnedAnnotation],
    revision: labels[replicaSetLabel || revisionLabel],
    startedAt: epochSeconds(status?.startTime ?? creationTimestamp),
    observed: observePod({ metadata, ...(spec && { spec }), ...(status && { status }) }, everyObject, undefined),
    times: podTimes({ metadata, ...(spec && { spec }), ...(status && { status }) }),
    files,
    env,
  };
}

function withHash({ hashes, ...pod }: UnresolvedPod, workload: HashPlace): RunningPod {
  const hash = podHash(hashes, workload);
  return { ...pod, hash, observed: { ...pod.observed, hash } };
}

/** Limit of the Pods whose Events are read: Pods of one rollout wait for the same cause. */
const maxWaiting = 10;

/** Returns the Pods with the reason of those that wait for a volume, which only an Event shows. */
async function withVolumes(
  client: ApiClient,
  pods: readonly (readonly [string, UnresolvedPod])[],
  now: number,
): Promise<typeof pods> {
  const waiting = pods.filter(([, { observed }]) => mayWaitForVolume(observed, now)).slice(0, maxWaiting);
  const reasons = await mapBounded(waiting, async ([owner, { observed }]) => {
    const { uid, createdAt: since } = observed;
    const { namespace } = parseWorkloadKey(owner);
    return [uid, await eventMessage(client, { namespace, uid, reason: volumeReason, since })] as const;
  });
  const byUid = new Map(reasons);
  return pods.map(([owner, pod]) => {
    const message = byUid.get(pod.observed.uid);
    return [owner, message === undefined ? pod : { ...pod, observed: withVolumeReason(pod.observed, message) }];
  });
}

/** The number of Pods that serve, and what is known about them. */
export interface PodCount {
  readonly total: number;
  readonly current: number;
  readonly ready: number;
  /** Why Pods are not ready, each reason once: CrashLoopBackOff, ImagePullBackOff, OOMKilled. */
  readonly notReadyReasons: readonly string[];
  /** The restarts of the container that restarted most, added up over all Pods. */
  readonly restarts: number;
  /** Pods with another configuration that are being deleted, and whose containers may still run. */
  readonly terminatingOld: number;
}

/** Counts the Pods of a workload. */
export function countPods(
  pods: readonly RunningPod[],
  terminating: readonly RunningPod[],
  isCurrent: (pod: RunningPod) => boolean,
): PodCount {
  const reasons = pods.flatMap(({ observed: { notReadyReason } }) => notReadyReason ?? []);
  return {
    total: pods.length,
    current: pods.filter(isCurrent).length,
    ready: pods.filter(({ observed }) => observed.ready).length,
    notReadyReasons: [...new Set(reasons)].sort(),
    restarts: pods.reduce((sum, { observed }) => sum + observed.restarts.count, 0),
    terminatingOld: terminating.filter((pod) => !isCurrent(pod)).length,
  };
}

function hasNotEnded({ status }: PodObject): boolean {
  return status?.phase !== "Succeeded" && status?.phase !== "Failed";
}
