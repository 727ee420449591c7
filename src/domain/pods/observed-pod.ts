import type { Container, ContainerStatus, Pod, PodSpec } from "#kubernetes";
import { podReferences } from "../model/pod-references.ts";
import { pinsOf } from "../pinning/pod-pins.ts";
import { type ConfigName, configKey, type Reference } from "../references/references.ts";
import { fieldsOf, textOf } from "../syntax/json.ts";
import { quoted } from "../syntax/names.ts";
import { type HashPlace, podHash } from "./pod-owner.ts";

/** A Pod as far as it shows what its containers have read. Times are in milliseconds since the epoch. */
export interface ObservedPod {
  readonly name: string;
  readonly uid: string;
  /** The hash of the pod template that it was created from; undefined if absent, or if its workload is not known. */
  readonly hash: string | undefined;
  readonly createdAt: number;
  /** Whether it is being deleted or has ended, so that it does not serve any more. */
  readonly ending: boolean;
  readonly ready: boolean;
  /** Why it is not ready: the reason of a container, such as `CrashLoopBackOff`, or of the Pod. Undefined if no reason is known. */
  readonly notReadyReason: string | undefined;
  /** Whether one of its containers has run, or what keeps all of them from a start. */
  readonly start: PodStart;
  /** The highest number of restarts of one of its containers, the container, and the code with which it exited last. */
  readonly restarts: { readonly container: string; readonly count: number; readonly exitCode?: number | undefined };
  /** The first of its containers that exited with another code than 0, and since when it runs again; undefined if none did. */
  readonly exit: Omit<ContainerExit, "pod"> | undefined;
  /** What its containers read live, also those that wait; empty if it reads only pinned copies. Undefined: as in {@link PodRead.object}. */
  readonly liveObjects: readonly (ConfigName | undefined)[];
  /** When each of its containers that has started has read live configuration. */
  readonly reads: readonly PodRead[];
  /** When its volumes were set up, at the earliest. */
  readonly volumesAt: number;
}

/** A container that exited with another code than 0. */
export interface ContainerExit {
  readonly pod: string;
  readonly container: string;
  readonly exitCode: number;
  /** Since when it runs again, in milliseconds since the epoch; undefined if it does not. */
  readonly runsSince?: number | undefined;
}

/** Whether a container of a Pod has run. `isScheduled`: whether it has a node. */
type PodStart =
  | { readonly state: "started" }
  | { readonly state: "starting"; readonly isScheduled: boolean }
  | ({ readonly state: "stuck" } & StuckReason);

/** A start of a container that has read live configuration. */
export interface PodRead {
  readonly by: "env" | "files";
  readonly at: number;
  /** What it has read; undefined: the container may read any object by itself. */
  readonly object: ConfigName | undefined;
}

/** Which configuration matters. */
export interface ReadConfig {
  /** Reports whether the hash of the workload includes an object. */
  readonly includes: (object: ConfigName) => boolean;
  /** Whether each container may read configuration by itself: the workload names objects in `extra-configmaps` or `extra-secrets`. */
  readonly byEachContainer: boolean;
}

/** Returns what the hash of a workload includes, by its references. */
export function readConfigOf(references: readonly Reference[]): ReadConfig {
  const names = new Set(references.map(configKey));
  return {
    includes: (object) => names.has(configKey(object)),
    byEachContainer: references.some(({ annotation }) => annotation !== undefined),
  };
}

/** Every object, for a Pod whose workload is not known yet. Use {@link withReadsOf} when it is known. */
export const everyObject: ReadConfig = { includes: () => true, byEachContainer: true };

/** Returns a Pod that was observed with {@link everyObject}, with the reads that matter for a workload. */
export function withReadsOf(pod: ObservedPod, { includes, byEachContainer }: ReadConfig): ObservedPod {
  const matters = (object: ConfigName | undefined) => (object === undefined ? byEachContainer : includes(object));
  return {
    ...pod,
    reads: pod.reads.filter(({ object }) => matters(object)),
    liveObjects: pod.liveObjects.filter(matters),
  };
}

/** Returns what a Pod shows. Copies that the Pod was pointed at are not live configuration. `workload` is undefined if it is not known. */
export function observePod(pod: Pod, config: ReadConfig, workload: HashPlace | undefined): ObservedPod {
  const { metadata = {}, spec, status = {} } = pod;
  const annotations = metadata.annotations ?? {};
  const containers = spec === undefined ? [] : containersOf(pod, spec, config);
  const createdAt = timeOf(metadata.creationTimestamp) ?? 0;
  const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  const ready = isTrue(pod, "Ready");
  return {
    name: metadata.name ?? "",
    uid: metadata.uid ?? "",
    hash: workload && podHash(annotations, workload),
    createdAt,
    ending: Boolean(metadata.deletionTimestamp) || status.phase === "Succeeded" || status.phase === "Failed",
    ready,
    notReadyReason: ready ? undefined : reasonOf(pod, statuses),
    start: startOfPod(pod, statuses),
    restarts: mostRestarts(statuses),
    exit: firstExit(statuses),
    liveObjects: containers.flatMap(({ reads }) => reads.map(({ object }) => object)),
    reads: containers.flatMap(({ reads, status: own }) => readsOf(reads, startOf(own))),
    volumesAt: timeOf(status.startTime) ?? createdAt,
  };
}

/** A container that reads live configuration. */
interface LiveContainer {
  readonly reads: readonly Omit<PodRead, "at">[];
  readonly status: ContainerStatus | undefined;
}

/** Returns the containers, init containers and sidecars that read live configuration of the workload. */
export function containersOf(
  pod: Pick<Pod, "metadata" | "status">,
  spec: PodSpec,
  config: ReadConfig,
): readonly LiveContainer[] {
  const namespace = pod.metadata?.namespace ?? "";
  const copies = new Set(pinsOf(pod)?.values());
  const isLive = (object: ConfigName) =>
    config.includes(object) && !(object.kind === "ConfigMap" && copies.has(object.name));
  const read = (containers: readonly Container[] = [], statuses: readonly ContainerStatus[] = []) =>
    containers.flatMap((container): readonly LiveContainer[] => {
      const mounted = new Set(container.volumeMounts?.map(({ name }) => name));
      const volumes = spec.volumes?.filter(({ name }) => mounted.has(name)) ?? [];
      const own: Omit<PodRead, "at">[] = config.byEachContainer ? [{ by: "env", object: undefined }] : [];
      podReferences({ volumes, containers: [container] }, namespace, (reference) => {
        if (reference.reads !== "existence" && isLive(reference)) own.push({ by: reference.reads, object: reference });
      });
      return own.length === 0 ? [] : [{ reads: own, status: statuses.find(({ name }) => name === container.name) }];
    });
  const { initContainerStatuses, containerStatuses } = pod.status ?? {};
  return [...read(spec.initContainers, initContainerStatuses), ...read(spec.containers, containerStatuses)];
}

function readsOf(reads: LiveContainer["reads"], at: number | undefined): readonly PodRead[] {
  return at === undefined ? [] : reads.map((each) => ({ ...each, at }));
}

/** Returns when the last run of a container started. A container that waits has no run, and reads live configuration when it starts. */
export function startOf(status: ContainerStatus | undefined): number | undefined {
  const { running, terminated } = status?.state ?? {};
  return timeOf(running?.startedAt) ?? timeOf(terminated?.startedAt);
}

function startOfPod({ status }: Pod, statuses: readonly ContainerStatus[]): PodStart {
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled");
  const hasRun = ({ state, restartCount }: ContainerStatus) =>
    restartCount > 0 || (state?.terminated?.exitCode ?? 0) > 0;
  const pull = statuses.map(({ state }) => state?.waiting).find((waiting) => imageReasons.includes(waiting?.reason));
  if (pull !== undefined && !statuses.some(hasRun))
    return { state: "stuck", ...stuckReason(pull.reason, pull.message) };
  const isStarted = ({ state }: ContainerStatus) => state?.running !== undefined || state?.terminated !== undefined;
  if (statuses.some(isStarted) || statuses.some(hasRun)) return { state: "started" };
  if (scheduled?.status === "False" && scheduled.reason === "Unschedulable")
    return { state: "stuck", ...stuckReason(scheduled.reason, scheduled.message) };
  return { state: "starting", isScheduled: scheduled?.status === "True" };
}

function firstExit(statuses: readonly ContainerStatus[]): ObservedPod["exit"] {
  for (const { name, state, lastState } of statuses) {
    const exitCode = state?.terminated?.exitCode || lastState?.terminated?.exitCode || 0;
    if (exitCode !== 0) return { container: name, exitCode, runsSince: timeOf(state?.running?.startedAt) };
  }
  return undefined;
}

function mostRestarts(statuses: readonly ContainerStatus[]): ObservedPod["restarts"] {
  let most: ObservedPod["restarts"] = { container: "", count: 0 };
  for (const { name, restartCount, state, lastState } of statuses) {
    const { exitCode } = state?.terminated ?? lastState?.terminated ?? {};
    if (restartCount > most.count) most = { container: name, count: restartCount, exitCode };
  }
  return most;
}

/** Returns the reason of the first container that is not ready. A container that was killed for its memory shows that before the wait. */
function reasonOf(pod: Pod, statuses: readonly ContainerStatus[]): string | undefined {
  for (const { state = {}, lastState = {} } of statuses) {
    const failed = state.waiting?.reason ?? (state.terminated?.exitCode ? state.terminated.reason : undefined);
    if (failed === undefined || startingReasons.includes(failed)) continue;
    return wordOf(failed === "CrashLoopBackOff" && lastState.terminated?.reason === "OOMKilled" ? "OOMKilled" : failed);
  }
  const scheduled = pod.status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status === "False") return wordOf(scheduled.reason);
  return wordOf(statuses.map(({ state }) => state?.waiting?.reason).find((reason) => reason !== undefined));
}

/** Reasons of containers that wait for others. */
const startingReasons: readonly string[] = ["PodInitializing", "ContainerCreating"];

/** Returns a reason if it is one word: a custom kubelet may write any text. */
function wordOf(reason: string | undefined): string | undefined {
  return reason !== undefined && /^[A-Za-z]{1,60}$/.test(reason) ? reason : undefined;
}

function isTrue({ status }: Pod, condition: string): boolean {
  return status?.conditions?.find(({ type }) => type === condition)?.status === "True";
}

function timeOf(text: string | undefined | null): number | undefined {
  const ms = typeof text === "string" ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

/**
 * Why a Pod does not start for a reason outside of its configuration, in the words of the scheduler, the quota or the kubelet. Other messages
 * of Kubernetes are never used: a webhook may write anything into them.
 */
export interface StuckReason {
  /** One word: "Unschedulable". */
  readonly reason: string;
  /** One line: `0/3 nodes are available: 3 Insufficient memory`. */
  readonly message: string;
}

/** The reasons of the kubelet for an image that it cannot pull (https://kubernetes.io/docs/concepts/containers/images/#imagepullbackoff). */
const imageReasons: readonly (string | undefined)[] = [
  "ErrImageNeverPull",
  "ErrImagePull",
  "ImageInspectError",
  "ImagePullBackOff",
  "InvalidImageName",
  "RegistryUnavailable",
  "SignatureValidationFailed",
];

/** The reason of Events about a Pod whose volume is not attached to its node. */
export const volumeReason = "FailedAttachVolume";

/** The reason of conditions, and of Events on a StatefulSet or DaemonSet, if the API server rejects a Pod. */
export const refusedReason = "FailedCreate";

/** In characters: a scheduler writes one clause for each kind of node. */
const mostShown = 300;

/** Returns a reason with at most 300 characters of its message, on one line and without the final full stop. */
export function stuckReason(reason = "", text = ""): StuckReason {
  const line = text.replace(/[\p{C}\p{Z}]+/gu, " ").trim();
  const message = line.length <= mostShown ? line : `${line.slice(0, mostShown - 1)}…`;
  return { reason, message: message.replace(/\.$/, "") };
}

/** Returns why the API server rejects Pods if the cause is a quota; undefined for other causes. `message` is that of a condition or an Event. */
export function quotaReason(message: string | undefined): StuckReason | undefined {
  return message?.includes("exceeded quota: ") ? stuckReason(refusedReason, message) : undefined;
}

/** Returns why the API server rejects the Pods of a Deployment if the cause is a quota, by its status; undefined for other causes. */
export function quotaReasonOf(status: unknown): StuckReason | undefined {
  const { conditions } = fieldsOf(status);
  const all: readonly unknown[] = Array.isArray(conditions) ? conditions : [];
  const failure = all.map(fieldsOf).find(({ type, status }) => type === "ReplicaFailure" && status === "True");
  return quotaReason(textOf(failure?.message));
}

/** Returns the reason as a clause: `Pod "web-0" does not start (Unschedulable: 0/3 nodes are available)`. Without a Pod, Kubernetes creates none. */
export function describeStuck({ pod, reason, message }: StuckReason & { readonly pod: string | undefined }): string {
  const what = pod === undefined ? "Kubernetes creates no new Pod" : `Pod ${quoted(pod)} does not start`;
  return `${what} (${message === "" ? reason : `${reason}: ${message}`})`;
}
