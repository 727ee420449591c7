import type { KnownKind } from "./known-kind.ts";

/** The status of a Job, as far as its progress is told by it. */
interface JobStatus {
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

/**
 * A Job: its pod template cannot be changed, so one that somebody asks to have rolled is made again
 * (https://kubernetes.io/docs/concepts/workloads/controllers/job/).
 */
export const job: KnownKind = {
  template: "/spec/template",
  shortNames: ["job"],
  leavesHeldPods: false,
  podsBy: undefined,
  rolledBy: "replacement",
  // Each run of a CronJob would be made again for an edit, those of yesterday, too: they have what its template has.
  leavesControlled: true,
  completeWhen: "it has succeeded; it is made again, with the same name",
  progress: (object) => {
    const { status } = object as { readonly status?: JobStatus };
    const isSo = (wanted: string) =>
      status?.conditions?.some(({ type, status }) => type === wanted && status === "True");
    if (isSo("Failed")) return { state: "failed", says: "Failed" };
    if (isSo("Complete")) return { state: "complete", since: undefined };
    return { state: "progressing", step: 0, available: 0 };
  },
};
