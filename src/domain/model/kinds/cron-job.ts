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
