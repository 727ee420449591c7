import type { DaemonSet, StatefulSet } from "kubernetes-types/apps/v1.d.ts";
import type { Pod } from "kubernetes-types/core/v1.d.ts";
import type { StoreChange } from "../cache/store.ts";
import type { KubeList, KubeObject } from "../kube/api-types.ts";
import type { ApiClient } from "../kube/client.ts";
import { isConflict, isNotFound } from "../kube/errors.ts";
import { type Resource, resourcePath, resources } from "../kube/resources.ts";
import { backoffMs } from "../lib/backoff.ts";
import { type Clock, sleep } from "../lib/clock.ts";
import { invalidScheduler, isGated } from "../rollout/scheduling-gate.ts";
import type { Workload } from "../rollout/workload.ts";
import { errorText } from "../telemetry/error-text.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Leadership } from "./leadership.ts";

/** What {@link createHeldPods} needs. */
export interface HeldPodsOptions {
  readonly client: ApiClient;
  /** Undefined: all. */
  readonly namespaces: readonly string[] | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random?: () => number;
}

/**
 * Replaces Pods that a scheduling gate still holds after it was opened, by deleting them: they have never been on a
 * node. Deployments, and StatefulSets and DaemonSets that roll freely, do that by themselves. A StatefulSet of ordered
 * Pods does not: it waits for ever for the Pod that was held to become ready
 * (https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#forced-rollback); nor does anything with the
 * update strategy OnDelete.
 */
export interface HeldPods {
  /** To be told of every change of a workload: an opened gate asks for a look. */
  onWorkloadChange(change: StoreChange<Workload>): void;
  /** Looks once, for gates that were opened while nobody led, and then whenever one opens, until the term ends. */
  run(leadership: Leadership): Promise<void>;
}

type StoredPod = KubeObject & Pick<Pod, "spec">;
type Owner = KubeObject & Pick<StatefulSet & DaemonSet, "spec" | "status">;

const ownerResources: Readonly<Record<string, Resource | undefined>> = {
  StatefulSet: resources.statefulSets,
  DaemonSet: resources.daemonSets,
};

/** Nothing happens before `run`. */
export function createHeldPods({ client, namespaces, clock, log, random = Math.random }: HeldPodsOptions): HeldPods {
  let asked = true;
  let wake: (() => void) | undefined;

  /** Deletes what can be deleted now; true where something is left that will be deletable later. */
  async function release(leadership: Leadership): Promise<boolean> {
    const signal = leadership.abort;
    let left = false;
    for (const namespace of namespaces ?? [undefined]) {
      for (const pod of await heldPods(client, namespace, signal)) {
        const state = await stateOf(client, pod, signal);
        if (state === "not yet") left = true;
        if (state !== "replaceable" || !leadership.valid()) continue;
        const { name, namespace: where, uid } = pod.metadata;
        await remove(client, pod, signal);
        log.info("replaced a Pod that was held by an opened scheduling gate", { namespace: where, pod: name, uid });
        left = true; // Look once more whether the new one is free.
      }
    }
    return left;
  }

  async function run(leadership: Leadership): Promise<void> {
    const { stop } = leadership;
    asked = true;
    let attempt = 0;
    while (!stop.aborted) {
      if (!asked) await untilAsked(stop);
      if (stop.aborted) return;
      asked = false;
      try {
        if (await release(leadership)) asked = true;
        else attempt = 0;
      } catch (error) {
        if (leadership.abort.aborted) return;
        log.warn("cannot replace Pods that are held by opened scheduling gates; trying again", {
          error: errorText(error),
        });
        asked = true;
      }
      if (!asked) continue;
      const wait = backoffMs(attempt++, { baseMs: 250, maxMs: 30_000, random });
      await sleep(clock, wait, stop).catch(() => {});
    }
  }

  async function untilAsked(stop: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    wake = () => resolve(undefined);
    stop.addEventListener("abort", resolve, { once: true });
    await promise;
    stop.removeEventListener("abort", resolve);
  }

  return {
    onWorkloadChange({ before, after }) {
      if (before === undefined || after === undefined || !isGated(before) || isGated(after)) return;
      if (after.kind === "Deployment") return;
      asked = true;
      wake?.();
    },
    run,
  };
}

/** Pods that nobody schedules; the API server finds them without sending any other. */
async function heldPods(client: ApiClient, namespace: string | undefined, signal: AbortSignal) {
  const fieldSelector = `spec.schedulerName=${invalidScheduler},spec.nodeName=`;
  const path = resourcePath(resources.pods, { namespace });
  const { items } = await client.request<KubeList<StoredPod>>({
    method: "GET",
    path,
    query: { fieldSelector },
    signal,
  });
  return (items ?? []).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

/**
 * "replaceable" once the controller of the Pod would make another one without the gate; "not yet" while that controller
 * has not seen that the gate is open; "held" where it is not open, or the Pod is none of a workload that this is about.
 */
async function stateOf(
  client: ApiClient,
  pod: StoredPod,
  signal: AbortSignal,
): Promise<"replaceable" | "not yet" | "held"> {
  const reference = pod.metadata.ownerReferences?.find(({ controller }) => controller);
  const resource = ownerResources[reference?.kind ?? ""];
  if (reference === undefined || resource === undefined) return "held";
  const path = resourcePath(resource, { namespace: pod.metadata.namespace, name: reference.name });
  const owner = await client.request<Owner>({ method: "GET", path, signal }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (owner === undefined || owner.metadata.uid !== reference.uid) return "held";
  if (owner.spec?.template.spec?.schedulerName === invalidScheduler) return "held";
  // Pods below the partition are made from the revision before, which has the gate.
  const ordinal = Number(/\d+$/.exec(pod.metadata.name)?.[0]);
  if (reference.kind === "StatefulSet" && ordinal < partitionOf(owner)) return "held";
  return (owner.status?.observedGeneration ?? 0) < (owner.metadata.generation ?? 0) ? "not yet" : "replaceable";
}

function partitionOf({ spec }: Owner): number {
  const rollingUpdate: { partition?: number } | undefined = spec?.updateStrategy?.rollingUpdate;
  return rollingUpdate?.partition ?? 0;
}

/** Deletes this very Pod, and only while it is as it was read. */
async function remove(client: ApiClient, { metadata }: StoredPod, signal: AbortSignal): Promise<void> {
  const { namespace, name, uid, resourceVersion } = metadata;
  const body = { preconditions: { uid, resourceVersion } };
  try {
    await client.request({ method: "DELETE", path: resourcePath(resources.pods, { namespace, name }), body, signal });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
