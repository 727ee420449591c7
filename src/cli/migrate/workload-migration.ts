import { describeMissing } from "../../domain/config/messages.ts";
import type { Workload } from "../../domain/model/workload.ts";
import { type DuePlan, planRollout } from "../../domain/plan/plan.ts";
import { configKey } from "../../domain/references/references.ts";
import type { WorkloadSnapshot } from "../cluster/explanation.ts";
import { policyOf } from "../cluster/inherited-flags.ts";
import { isUnread, lookupIn, readableReferences } from "../cluster/live-plan.ts";

/** What becomes of a workload when Wave takes over. */
export const migrationEffects = {
  none: "nothing is written before something that it reads changes",
  note: "what its Pods see is noted beside it; no Pod is replaced",
  roll: "its Pods are replaced once",
  waits: "something that its Pods require is missing: it keeps what it has",
  unknown: "it hangs on what you may not read",
} as const;

/** One of them. */
export type MigrationEffect = keyof typeof migrationEffects;

/** What `wave migrate -o json` prints of one workload; docs/commands.md promises its fields. */
export interface WorkloadMigration {
  readonly kind: Workload["kind"];
  readonly namespace: string;
  readonly name: string;
  /** In whose annotations it asks for rolls. */
  readonly compatibility: readonly string[];
  readonly effect: MigrationEffect;
  /** One line for a person. */
  readonly reason: string;
  /** What an old version of Wave left on it. */
  readonly leftovers: readonly string[];
}

/** What Wave would do with a workload that it sees for the first time, whatever may hold that for a while. */
export function migrationOf({ found, unnamed, read, policy, gaps }: WorkloadSnapshot): WorkloadMigration {
  const { object, workload } = found;
  const { kind, namespace, name } = workload;
  const readable = { ...workload, references: readableReferences(workload.references, read) };
  const plan = planRollout(readable, lookupIn(read), policyOf(policy));
  const unread = workload.references.filter((reference) => isUnread(read.get(configKey(reference))));
  const unknown =
    unread.length > 0 ? `could not read ${describeMissing(unread, namespace)}` : (unnamed?.error ?? gaps[0]);
  const told =
    unknown === undefined
      ? { effect: effectOf(plan), reason: plan.reason }
      : { effect: "unknown" as const, reason: unknown };
  const leftovers = (object.metadata?.finalizers ?? []).filter((finalizer) => finalizer.startsWith("wave.pusher.com/"));
  return { kind, namespace, name, compatibility: workload.foreign?.compatibility ?? ["wave"], ...told, leftovers };
}

function effectOf({ outcome }: DuePlan): MigrationEffect {
  switch (outcome) {
    case "ignore":
    case "current":
    case "overLimit":
    case "cleanUp":
      return "none";
    case "recorded":
      return "note";
    case "firstHash":
    case "roll":
      return "roll";
    case "waiting":
      return "waits";
  }
}
