import type { WorkloadRow } from "../kind-row.ts";

/** What Wave knows of a kind before it finds it in a cluster. */
export interface KnownKind
  extends Pick<
    WorkloadRow,
    | "template"
    | "shortNames"
    | "leavesHeldPods"
    | "podsBy"
    | "rolledBy"
    | "leavesControlled"
    | "restartAt"
    | "borrowing"
    | "keepsContainers"
    | "progress"
  > {
  /** By what its progress is told, as docs/kinds.md says it. */
  readonly completeWhen: string;
}
