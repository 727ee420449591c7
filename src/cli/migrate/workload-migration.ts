import { describeMissing } from "../../domain/config/messages.ts";
import type { Workload } from "../../domain/model/workload.ts";
import { type DuePlan, planRollout } from "../../domain/plan/plan.ts";
import { configKey } from "../../domain/references/references.ts";
import { policyOf } from "../cluster/running-wave/known-policy.ts";
import { isUnread, lookupIn, readableReferences } from "../cluster/snapshot/live-plan.ts";
import type { WorkloadSnapshot } from "../cluster/snapshot/workload-snapshot.ts";
import { sentences } from "../output/sentences.ts";

/** What happens to a workload when Wave takes over, with the meanings. */
export const migrationEffects = {
  current: "The recorded hash matches. Nothing restarts.",
  recorded: "Wave records the current configuration without a restart.",
  roll: "Wave rolls the workload once.",
  waiting: "Something that the Pods require is missing. Running Pods are not changed.",
  overLimit: "The workload exceeds a limit of Wave, so Wave does not roll it.",
  ignored: "Wave does not track the workload: its opt-in is invalid, or its namespace is not watched.",
  unknown: "You do not have permission to read something that the effect depends on.",
} as const;

/** An effect of {@link migrationEffects}. */
export type MigrationEffect = keyof typeof migrationEffects;

/** One workload in the output of `wave migrate -o json`; docs/commands.md promises its fields. */
export interface WorkloadMigration {
  readonly kind: Workload["kind"];
  readonly namespace: string;
  readonly name: string;
  /** The controllers whose annotations opt the workload in. */
  readonly compatibility: readonly string[];
  readonly effect: MigrationEffect;
  /** One line for people. */
  readonly reason: string;
  /** Finalizers that an old version of Wave left on the workload. */
  readonly leftovers: readonly string[];
}

/** Returns what Wave does with a workload when it takes over, regardless of holds. */
export function migrationOf({ found, unnamed, read, policy, gaps }: WorkloadSnapshot): WorkloadMigration {
  const { object, workload } = found;
  const { kind, namespace, name } = workload;
  const readable = { ...workload, references: readableReferences(workload.references, read) };
  const plan = planRollout(readable, lookupIn(read), policyOf(workload, policy));
  const unread = workload.references.filter((reference) => isUnread(read.get(configKey(reference))));
  const unknown =
    unread.length > 0 ? `Cannot read ${describeMissing(unread, namespace)}.` : (unnamed?.error ?? gaps[0]);
  const result =
    unknown === undefined
      ? { effect: effectOf(plan), reason: sentences(plan.reason) }
      : { effect: "unknown" as const, reason: unknown };
  const leftovers = (object.metadata?.finalizers ?? []).filter((finalizer) => finalizer.startsWith("wave.pusher.com/"));
  return { kind, namespace, name, compatibility: workload.peer?.compatibility ?? ["wave"], ...result, leftovers };
}

function effectOf({ outcome }: DuePlan): MigrationEffect {
  switch (outcome) {
    case "current":
    case "recorded":
    case "waiting":
    case "overLimit":
      return outcome;
    case "firstHash":
    case "roll":
      return "roll";
    case "ignore":
    case "cleanUp":
      return "ignored";
  }
}
