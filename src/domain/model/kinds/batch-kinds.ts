import type { KnownKind } from "./kind-rules.ts";

/**
 * A CronJob. Each scheduled run creates new Pods, which read the current configuration. For a rollout, Wave runs the CronJob once in
 * addition to its schedule.
 */
export const cronJob: KnownKind = {
  template: "/spec/jobTemplate/spec/template",
  shortNames: ["cj", "cronjob"],
  keepsPendingPods: false,
  replicaSetLabel: undefined,
  strategy: "run",
  completeWhen: "its additional run was created. Wave runs it once, in addition to its schedule.",
  progress: () => ({ state: "idle" }),
};

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
