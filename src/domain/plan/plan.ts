// What is due for a workload, from its stored state alone. Pure, as everything in this folder.

import { describeObject } from "../config/changes.ts";
import type { ConfigView } from "../config/hash.ts";
import { withLegacyVerification } from "../config/legacy-hash.ts";
import type { Lookup } from "../config/view-of-references.ts";
import { oldFinalizerWarning } from "../model/leftovers.ts";
import { hasSchedulingHold } from "../model/scheduling-hold.ts";
import type { Workload } from "../model/workload-shape.ts";
import type { DuePlan, ExplainedDecision } from "../outcomes/outcomes.ts";
import type { Moment } from "../pacing/moment.ts";
import { isPinned, rolledBack, unusableCopies } from "../pinning/pin-request.ts";
import type { PinnedLookup } from "../pinning/pinned-lookup.ts";
import { nothingRejected, withRejected } from "../pinning/rejections.ts";
import { isOptedIn } from "../policy/namespace-policy.ts";
import type { Policy } from "../policy/policy.ts";
import { configKey } from "../references/references.ts";
import { mergeWarnings } from "../references/warning.ts";
import { formatList } from "../syntax/wording.ts";
import { planDue } from "./due-plan.ts";
import { returnMistakes } from "./return-plan.ts";

/**
 * Returns what is due for a workload, whether it may happen now or not: the part of {@link decide} that does not depend on holds. `previous` is
 * the last known view of the workload.
 */
export function planRollout(workload: Workload, lookup: Lookup, policy: Policy, previous?: ConfigView): DuePlan {
  return planWanted(wantedOf(workload, lookup, policy, undefined), policy, previous, undefined);
}

/** A workload, and what its new Pods are to read. */
export interface Wanted extends PinnedLookup {
  /** The workload. A hash of another controller that was verified is its recorded hash. */
  readonly workload: Workload;
}

/** Returns what new Pods of a workload are to read: not what was rolled back. */
export function wantedOf(stored: Workload, live: Lookup, policy: Policy, legacy: Moment["legacy"]): Wanted {
  const workload = withLegacyVerification(stored, legacy);
  const hasRejected = workload.rejected !== undefined && isPinned(workload, policy);
  return { workload, ...(hasRejected ? withRejected(workload, live, policy) : nothingRejected(live)) };
}

/** Returns what is due, with its warnings. Without a moment, a workload is not new, and the pause of Stakater Reloader stays, as in a webhook. */
export function planWanted(
  { workload, lookup, kept, unusable }: Wanted,
  policy: Policy,
  previous: ConfigView | undefined,
  moment: Moment | undefined,
): DuePlan {
  const unpauses =
    moment !== undefined && workload.pausedByReloader && isOptedIn(workload, policy) && !hasSchedulingHold(workload);
  const decided = unpauses
    ? planUnpause(workload)
    : withUnrestored(planDue(workload, lookup, policy, previous, moment), workload, kept);
  const checked = policy.ownership === undefined ? withOldFinalizerWarning(workload, decided) : decided;
  const pinWarnings = [
    ...(decided.outcome === "ignore" ? [] : returnMistakes(workload, policy)),
    ...(kept.size > 0 ? [rolledBack([...kept].sort())] : []),
    ...(unusable.length > 0 ? [unusableCopies(unusable)] : []),
  ];
  return pinWarnings.length === 0
    ? checked
    : { ...checked, warnings: mergeWarnings([...checked.warnings, ...pinWarnings]) };
}

/** Unpausing comes before everything else: a paused Deployment creates no Pods, whatever Wave writes. */
function planUnpause({ mistakes, deleting }: Workload): DuePlan {
  if (deleting) return { outcome: "ignore", reason: "the workload is being deleted", warnings: [] };
  const reason = "Stakater Reloader left the Deployment paused";
  return { outcome: "cleanUp", reason, warnings: mergeWarnings(mistakes) };
}

/** Adds the warning also to a workload that is being deleted: then the finalizer matters most. */
function withOldFinalizerWarning({ oldFinalizer }: Workload, plan: DuePlan): DuePlan {
  return oldFinalizer ? { ...plan, warnings: [...plan.warnings, oldFinalizerWarning] } : plan;
}

/** Limit of the objects in a reason. */
const shownObjects = 3;

/**
 * Adds to the reason of a rollout after an undo what the undo does not restore: the hash of the earlier revision includes it, too. `kept` are
 * the ConfigMaps that Pods read from the copies of that revision. A rollout with known changes names them already.
 */
function withUnrestored<T extends ExplainedDecision>(
  decision: T,
  { namespace }: Workload,
  kept: ReadonlySet<string>,
): T {
  if (decision.outcome !== "roll" || decision.changed !== undefined || kept.size === 0) return decision;
  const isKept = (object: { kind: string; namespace: string; name: string }) =>
    object.kind === "ConfigMap" && object.namespace === namespace && kept.has(object.name);
  const objects = new Map(decision.view.entries.filter((each) => !isKept(each)).map((each) => [configKey(each), each]));
  if (objects.size === 0) return decision;
  const names = formatList([...objects.values()], shownObjects, (each) => describeObject(each, namespace));
  const suffix = `, and a rollback does not restore ${names}`;
  return { ...decision, suffix, reason: decision.reason + suffix };
}
