import type { Caches } from "../cache/caches.ts";
import type { ApiClient } from "../kube/client.ts";
import type { Clock } from "../lib/clock.ts";
import { patchFor } from "../rollout/patch.ts";
import { planRollout, type RolloutPlan } from "../rollout/plan.ts";
import type { Policy } from "../rollout/policy.ts";
import type { Workload } from "../rollout/workload.ts";
import { errorText } from "../telemetry/error-text.ts";
import type { Leadership } from "./leadership.ts";
import type { Outcome } from "./outcome.ts";
import type { RememberedViews } from "./remembered-views.ts";
import { learn, newestOf, type WorkloadRecord } from "./workload-record.ts";
import { writeWorkload } from "./workload-writer.ts";

type Views = Pick<RememberedViews, "remember">;

/** What {@link reconcile} works with. */
export interface ReconcileOptions {
  readonly client: Pick<ApiClient, "request">;
  readonly caches: Pick<Caches, "lookup" | "workload">;
  readonly policy: Policy;
  /** Learns the keys of hashes that other replicas have made; rejects where it cannot. Undefined where there are none. */
  readonly readHashKeys?: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly clock: Clock;
  readonly leadership: Leadership;
  readonly views: Views;
}

/** One run: the workload's key, what is remembered of it, and how to take a turn for one write, false where there is none. */
export interface Run {
  readonly key: string;
  readonly record: WorkloadRecord;
  readonly takeTurn: () => boolean;
}

/** How often a workload that changed meanwhile is read and planned again at once, before it has to wait. */
const triesAtOnce = 3;

/**
 * Brings one workload to what its plan says, with at most one write. It decides nothing: `planRollout` does. A key must
 * never be reconciled twice at once. Rejects only for a bug.
 */
export async function reconcile({ key, record, takeTurn }: Run, options: ReconcileOptions): Promise<Outcome> {
  const { client, caches, policy, readHashKeys, clock, leadership, views } = options;
  const cached = caches.workload(key);
  if (cached === undefined) return { type: "gone" };
  let workload = newestOf(record, cached, clock.monotonic());
  let keysRead = readHashKeys === undefined;
  for (let attempt = 0; attempt < triesAtOnce; attempt++) {
    const plan = planRollout(workload, caches.lookup, policy, record.view);
    const patch = patchFor(workload, plan);
    if (patch === undefined) return settled(record, workload, plan, views);
    if (leadership.abort.aborted || !leadership.valid()) return { type: "stopped" };
    // A turn is good for one write, however many tries that takes.
    if (attempt === 0 && !takeTurn()) return { type: "paced" };
    if (plan.outcome === "adopt" && !keysRead) {
      // The hash may be under a key that another replica has just made.
      const failure = await readHashKeys?.(leadership.abort).catch(errorText);
      if (failure !== undefined) return { type: "unavailable", workload, message: failure, retryAfterMs: 0 };
      keysRead = true;
      continue;
    }
    const result = await writeUnlessAborted(client, workload, patch, leadership.abort);
    switch (result.type) {
      case "written":
        learn(record, cached, result.after, clock.monotonic());
        return written(record, workload, plan, views);
      case "stale":
        learn(record, cached, result.newest, clock.monotonic());
        workload = result.newest;
        break;
      case "unavailable":
        if (result.uncertain) record.uncertain = { before: workload, plan };
        return { ...result, workload };
      case "refused":
        return { ...result, workload };
      case "gone":
      case "stopped":
        return result;
    }
  }
  return { type: "conflict", workload };
}

async function writeUnlessAborted(...[client, workload, patch, abort]: Parameters<typeof writeWorkload>) {
  try {
    return await writeWorkload(client, workload, patch, abort);
  } catch (error) {
    if (abort.aborted) return { type: "stopped" } as const;
    throw error;
  }
}

function settled(record: WorkloadRecord, workload: Workload, plan: RolloutPlan, views: Views): Outcome {
  const { uncertain } = record;
  record.uncertain = undefined;
  if (plan.outcome === "unchanged") {
    // The write of which no answer came did arrive: it is told of now.
    if (uncertain !== undefined && hashOf(uncertain.plan) === plan.view.hash) {
      return written(record, uncertain.before, uncertain.plan, views);
    }
    views.remember(record, plan.view);
  }
  return { type: "settled", workload, plan };
}

function written(record: WorkloadRecord, before: Workload, plan: RolloutPlan, views: Views): Outcome {
  record.uncertain = undefined;
  if ("view" in plan) views.remember(record, plan.view);
  return { type: "written", before, plan };
}

function hashOf(plan: RolloutPlan): string | undefined {
  return "hash" in plan ? plan.hash : undefined;
}
