import { numberOf } from "../../syntax/unknown-fields.ts";
import type { WorkloadRow } from "../kind-row.ts";
import type { Progress } from "../progress.ts";

/** The rules of a kind that Wave knows before it finds the kind in a cluster. */
export interface KnownKind
  extends Pick<
    WorkloadRow,
    | "template"
    | "shortNames"
    | "keepsPendingPods"
    | "replicaSetLabel"
    | "strategy"
    | "skipsControlled"
    | "restartAt"
    | "workloadRef"
    | "inPlaceUpdateMistake"
    | "progress"
  > {
  /** When a rollout is complete, as docs/kinds.md describes it. */
  readonly completeWhen: string;
}

/** The numbers of Pods that show the progress of a rollout for many kinds. */
interface ReplicaCounts {
  /** Whether the numbers reflect the current spec. */
  readonly observed: boolean;
  /** The desired number of Pods. */
  readonly wanted: number;
  /** The desired number of Pods with the newest template. Lower than `wanted` if a partition keeps old Pods. */
  readonly toUpdate: number;
  readonly updated: number;
  readonly available: number;
  /** The actual number of Pods, if it may be higher than `wanted`. */
  readonly there?: number | undefined;
}

/** Returns the progress of a rollout from the numbers of its Pods. */
export function progressByCounts(counts: ReplicaCounts): Progress {
  const { observed, wanted, toUpdate, updated, available, there = wanted } = counts;
  const isDone = observed && updated >= Math.min(toUpdate, wanted) && available >= wanted && there <= wanted;
  if (!isDone) return { state: "progressing", step: 2 * updated + available - there, available };
  return toUpdate <= 0 || wanted === 0 ? { state: "idle" } : { state: "complete", since: undefined };
}

/** Reports whether a status reflects the current spec. The observed generation may be a number or a text. */
export function isObserved(generation: number | undefined, observed: unknown): boolean {
  const seen = typeof observed === "string" ? Number(observed) : (numberOf(observed) ?? 0);
  return seen > 0 && seen >= (generation ?? 0);
}
