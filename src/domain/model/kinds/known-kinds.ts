import type { WorkloadKind } from "../kind-row.ts";
import { argoRollout } from "./argo-rollout.ts";
import { cronJob } from "./cron-job.ts";
import { job } from "./job.ts";
import type { KnownKind } from "./known-kind.ts";
import { advancedStatefulSet, cloneSet } from "./kruise.ts";

/** The kinds of which Wave knows more than of any other, by their ids. */
export const knownKinds: Readonly<Record<WorkloadKind, KnownKind>> = {
  "rollouts.argoproj.io": argoRollout,
  "clonesets.apps.kruise.io": cloneSet,
  "statefulsets.apps.kruise.io": advancedStatefulSet,
  "cronjobs.batch": cronJob,
  "jobs.batch": job,
};
