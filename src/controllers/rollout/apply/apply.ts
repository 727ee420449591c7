// Writes of a plan: one patch, an action before it, or a new Job. This folder knows plans and the API, but no memory.
import type { Caches } from "../../../cache/caches.ts";
import { changesTemplate } from "../../../domain/model/kind-row.ts";
import type { Workload } from "../../../domain/model/workload.ts";
import type { JsonPatch } from "../../../domain/patch/workload-patch.ts";
import type { RolloutPlan } from "../../../domain/plan/plan.ts";
import type { ClusterPolicy } from "../../../domain/policy/policy.ts";
import { fieldManager, recordManager } from "../../../domain/references/field-managers.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Leadership } from "../../../runtime/write-permits.ts";
import { preApply } from "./pre-apply.ts";
import { recreateJob } from "./recreate-job.ts";
import { type WriteResult, writeWorkload } from "./workload-writer.ts";

/** What {@link applyPlan} needs. */
export interface ApplyOptions {
  readonly client: Pick<ApiClient, "request">;
  readonly policy: ClusterPolicy;
  readonly caches: Pick<Caches, "lookup">;
  readonly clock: Clock;
  readonly leadership: Pick<Leadership, "abort" | "valid">;
}

/**
 * Applies a plan in the way that creates new Pods for its kind. `patch` is the write to the workload itself. "stopped": the
 * leadership was lost. Rejects only for a bug.
 */
export async function applyPlan(
  workload: Workload,
  plan: RolloutPlan,
  patch: JsonPatch,
  { client, policy, caches, clock, leadership }: ApplyOptions,
): Promise<WriteResult | { readonly type: "stopped" }> {
  const { apply } = workload.strategy;
  try {
    if (apply === "recreate" && changesTemplate(workload.row, patch)) {
      return await recreateJob(client, workload, patch, leadership, clock, policy);
    }
    if (apply === "preApply" && plan.outcome === "roll") {
      const acted = await preApply(client, workload, plan.hash, patch, leadership, policy, caches.lookup);
      return acted.type === "acted" ? await writeWorkload(client, workload, acted.patch, leadership, policy) : acted;
    }
    const isRecording = plan.outcome === "recorded" && !changesTemplate(workload.row, patch);
    return await writeWorkload(client, workload, patch, leadership, policy, isRecording ? recordManager : fieldManager);
  } catch (error) {
    if (leadership.abort.aborted) return { type: "stopped" };
    throw error;
  }
}
