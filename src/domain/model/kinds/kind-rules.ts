import type { WorkloadRow } from "../kind-row.ts";

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
