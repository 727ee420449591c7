import { workloadPath } from "../../cache/workloads/workload-resource.ts";
import type { Workload } from "../../domain/model/workload.ts";
import { rollAgainPatch } from "../../domain/patch/workload-patch.ts";
import type { ObservedPod } from "../../domain/pods/observed-pod.ts";
import { fieldManager } from "../../domain/references/field-managers.ts";
import { apiFailureOf, retryAfterMs } from "../../kube/api/api-failure.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import { timestamp } from "../../kube/events/event-object.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Leadership } from "../../runtime/leadership.ts";
import { unlessChanged } from "../observers/write-annotation.ts";

/** What the writes of this controller need. */
export interface MixedPodWrites {
  readonly client: Pick<ApiClient, "request">;
  readonly clock: Clock;
  readonly leadership: Leadership;
}

/** Starts a rollout of a workload without a change of its hash. */
export async function rollAgain(
  workload: Workload,
  { client, clock, leadership }: MixedPodWrites,
): Promise<"written" | "changed"> {
  try {
    await client.request({
      method: "PATCH",
      path: workloadPath(workload),
      query: { fieldManager },
      contentType: "application/json-patch+json",
      body: rollAgainPatch(workload, timestamp(clock)),
      signal: leadership.abort,
      mayBeSent: leadership.valid,
    });
    return "written";
  } catch (error) {
    return unlessChanged(error);
  }
}

/** How an eviction ended. "changed": the Pod is gone, or another Pod has its name. "blocked": a PodDisruptionBudget does not allow it. */
export type EvictionResult =
  | { readonly type: "evicted" | "changed" | "forbidden" }
  | { readonly type: "blocked"; readonly retryAfterMs: number };

/** Evicts a Pod by the Eviction API, which respects disruption budgets. */
export async function evictPod(
  namespace: string,
  { name, uid }: ObservedPod,
  { client, leadership }: MixedPodWrites,
): Promise<EvictionResult> {
  try {
    await client.request({
      method: "POST",
      path: resourcePath(resources.pods, { namespace, name, subresource: "eviction" }),
      body: {
        apiVersion: "policy/v1",
        kind: "Eviction",
        metadata: { name, namespace },
        deleteOptions: { preconditions: { uid } },
      },
      signal: leadership.abort,
      mayBeSent: leadership.valid,
    });
    return { type: "evicted" };
  } catch (error) {
    const failure = apiFailureOf(error);
    if (failure?.type === "forbidden") return { type: "forbidden" };
    // The server also limits the rate of requests with this status.
    const isBlocked =
      failure?.type === "tooManyRequests" &&
      failure.error.details?.causes?.some(({ reason }) => reason === "DisruptionBudget");
    if (isBlocked) return { type: "blocked", retryAfterMs: retryAfterMs(error) };
    return { type: unlessChanged(error) };
  }
}
