import type { KnownKind } from "./known-kind.ts";

/**
 * A CronJob: its Pods come with its runs, each of which reads configuration afresh. One that somebody asks to have rolled is run
 * once beside its schedule.
 */
export const cronJob: KnownKind = {
  template: "/spec/jobTemplate/spec/template",
  shortNames: ["cj", "cronjob"],
  leavesHeldPods: false,
  podsBy: undefined,
  rolledBy: "run",
  completeWhen: "its run was made: it is run once, beside its schedule",
  progress: () => ({ state: "idle" }),
};
