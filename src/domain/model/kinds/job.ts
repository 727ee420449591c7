import type { KnownKind } from "./kind-rules.ts";

/** The part of the status of a Job that shows its progress. */
interface JobStatus {
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

/**
 * A Job. Its pod template is immutable, so Wave recreates the Job for a rollout
 * (https://kubernetes.io/docs/concepts/workloads/controllers/job/).
 */
export const job: KnownKind = {
  template: "/spec/template",
  shortNames: ["job"],
  keepsPendingPods: false,
  replicaSetLabel: undefined,
  strategy: "replacement",
  // Otherwise an edit would recreate every past run of a CronJob, because runs copy the annotations of its template.
  skipsControlled: true,
  completeWhen: "it has succeeded. Wave recreates it with the same name.",
  progress: (object) => {
    const { status } = object as { readonly status?: JobStatus };
    const hasCondition = (wanted: string) =>
      status?.conditions?.some(({ type, status }) => type === wanted && status === "True");
    if (hasCondition("Failed")) return { state: "failed", statusWord: "Failed" };
    if (hasCondition("Complete")) return { state: "complete", since: undefined };
    return { state: "progressing", step: 0, available: 0 };
  },
};
