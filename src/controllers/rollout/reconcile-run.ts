import type { Caches } from "../../cache/caches.ts";
import type { PodLists } from "../../cache/live/listed-pods.ts";
import type { Hold } from "../../domain/outcomes/outcomes.ts";
import type { Lookup } from "../../domain/plan/plan.ts";
import type { ConfigName } from "../../domain/references/references.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { LivePlanOptions } from "./freshness/live-plan.ts";
import type { MomentSources } from "./memory/moment.ts";
import type { RememberedViews } from "./memory/remembered-views.ts";
import type { Findings, WorkloadMemory, Writable } from "./memory/workload-memory.ts";
import type { MixedPodsOptions } from "./mixed-pods/mixed-pods.ts";

/** What the runs of all workloads need. */
export interface ReconcileOptions extends LivePlanOptions, MomentSources, Pick<MixedPodsOptions, "reading"> {
  readonly client: Pick<ApiClient, "request" | "stream">;
  readonly caches: Pick<Caches, "lookup" | "syncedUpTo" | "absentSince" | "workload" | "kinds" | "copiesIn">;
  readonly log: Logger;
  /** Whether webhooks are on. They reject in the request, if the API server asks them in time. */
  readonly webhooks: boolean;
  readonly views: Pick<RememberedViews, "of" | "remember">;
  readonly pods: PodLists;
}

/** One run for one workload. */
export interface ReconcileRun {
  readonly key: string;
  /** Read only: changes that are seen during the run appear in it. */
  readonly memory: Pick<WorkloadMemory, "changes" | "heldBy" | "unpinned">;
  /** The run's own copy, which it changes. */
  readonly findings: Writable<Findings>;
  /** Takes a permit for one write. Returns false if there is no permit. */
  readonly takePermit: () => boolean;
  /** Returns a permit that was taken and not used. */
  readonly returnPermit: () => void;
  /**
   * Takes a permit for a note on the workload, or to delete a Pod that keeps it from its return. If there is none, the workload is reconciled
   * again when it has one.
   */
  readonly takeNotePermit: () => boolean;
  /** Returns the hold of the batches of these changes; undefined if all of them admit the workload. */
  readonly batchHold: (changed: readonly ConfigName[], lookup: Lookup) => Hold | undefined;
  /** Reports whether the last plan is for content that the batches do not know yet. */
  readonly isBatchBehind: () => boolean;
}

/** Reports whether this process must not write now. It checks this right before each write, and before work that only a write needs. */
export function mustNotWrite({ leadership }: Pick<ReconcileOptions, "leadership">): boolean {
  return leadership.abort.aborted || !leadership.valid();
}
