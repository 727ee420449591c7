import type { Caches } from "../../../cache/caches.ts";
import { ownerCheck } from "../../../cache/workloads/workload-reads.ts";
import type { Lookup } from "../../../domain/config/view-of-references.ts";
import type { Workload } from "../../../domain/model/workload.ts";
import type { PinsToWrite } from "../../../domain/patch/workload-patch.ts";
import { pinSources, previousPinsAfter } from "../../../domain/pinning/pin-request.ts";
import { stillRejected } from "../../../domain/pinning/rejections.ts";
import type { RolloutPlan } from "../../../domain/plan/plan.ts";
import { policyFor } from "../../../domain/policy/policy.ts";
import { isApiFailure, retryAfterMs } from "../../../kube/api/api-failure.ts";
import { storeCopies } from "../../../pinning/store-copies.ts";
import { errorText } from "../../../telemetry/logging/error-text.ts";
import type { ApplyOptions } from "./apply.ts";

/** What {@link storePins} needs. */
export interface StorePinsOptions extends Omit<ApplyOptions, "caches"> {
  readonly caches: Pick<Caches, "workload" | "kinds" | "copiesIn">;
}

/** The pins of a write, or why the write must wait. */
export type PinsForWrite =
  /** `unpinned` is why Pods read live configuration although they should be pinned. */
  | { readonly type: "pins"; readonly pins: PinsToWrite; readonly unpinned?: string }
  /** The configuration changed after the plan. */
  | { readonly type: "stale" }
  | { readonly type: "unavailable"; readonly message: string; readonly retryAfterMs: number }
  | { readonly type: "stopped" };

/**
 * Stores the copies that the Pods of a plan are to read, before the one patch names them. A crash between the two leaves copies that the
 * next run uses or the collector deletes. `lookup` is the one of the plan.
 */
export async function storePins(
  workload: Workload,
  plan: RolloutPlan,
  lookup: Lookup,
  { client, caches, policy, leadership }: StorePinsOptions,
): Promise<PinsForWrite> {
  const workloadPolicy = policyFor(workload, policy);
  const sources =
    plan.outcome === "roll" || plan.outcome === "firstHash"
      ? pinSources(workload, plan.view, lookup, workloadPolicy)
      : undefined;
  if (sources === undefined || !("hash" in plan)) return { type: "pins", pins: {} };
  const returns = plan.outcome === "roll" ? plan.returns : undefined;
  try {
    const from = returns === undefined ? workload : { ...workload, pinned: returns.pinned };
    const stored = await storeCopies(from, sources, {
      client,
      lookup,
      isAlive: ownerCheck({ client, workload: caches.workload, kinds: caches.kinds() }),
      copiesIn: caches.copiesIn,
      signal: leadership.abort,
      mayBeSent: leadership.valid,
    });
    switch (stored.type) {
      case "stored":
      case "unpinned": {
        const { pinned } = stored;
        const pins =
          returns === undefined
            ? {
                pinned,
                rejected: stillRejected(workload, lookup),
                previous: previousPinsAfter(workload, { hash: plan.hash, pinned }, workloadPolicy),
              }
            : { pinned, rejected: returns.rejected };
        return { type: "pins", pins, ...(stored.type === "unpinned" && { unpinned: stored.message }) };
      }
      case "stale":
        return stored;
    }
  } catch (error) {
    if (leadership.abort.aborted) return { type: "stopped" };
    if (!isApiFailure(error)) throw error;
    return { type: "unavailable", message: errorText(error), retryAfterMs: retryAfterMs(error) };
  }
}
