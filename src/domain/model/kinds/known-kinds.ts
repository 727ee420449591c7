import type { WorkloadKind } from "../kind-row.ts";
import { argoRollout } from "./argo-rollout.ts";
import { cronJob, job } from "./batch-kinds.ts";
import type { KnownKind } from "./kind-rules.ts";
import { advancedStatefulSet, cloneSet } from "./kruise.ts";

// domain/model/kinds: the rules of each kind of workload beyond apps/v1. Knows the model only.

/** The kinds with special rules, by id. */
export const knownKinds: Readonly<Record<WorkloadKind, KnownKind>> = {
  "rollouts.argoproj.io": argoRollout,
  "clonesets.apps.kruise.io": cloneSet,
  "statefulsets.apps.kruise.io": advancedStatefulSet,
  "cronjobs.batch": cronJob,
  "jobs.batch": job,
};
