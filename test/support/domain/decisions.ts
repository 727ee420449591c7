import type { ConfigView } from "../../../src/domain/config/hash.ts";
import type { Lookup } from "../../../src/domain/config/view-of-references.ts";
import type { Workload } from "../../../src/domain/model/workload-shape.ts";
import type { DuePlan, RolloutPlan } from "../../../src/domain/outcomes/outcomes.ts";
import { decide as decideByRules, type World } from "../../../src/domain/plan/decide.ts";
import { planRollout as planByRules } from "../../../src/domain/plan/plan.ts";
import type { Policy } from "../../../src/domain/policy/policy.ts";
import { rulesFor } from "../../../src/domain/policy/rules.ts";

/** Returns what is due for a workload by a policy. */
export function planRollout(workload: Workload, lookup: Lookup, policy: Policy, previous?: ConfigView): DuePlan {
  return planByRules(workload, lookup, rulesFor(workload, policy), previous);
}

/** Decides about a workload by a policy. */
export function decide({ policy, ...world }: Omit<World, "rules"> & { readonly policy: Policy }): RolloutPlan {
  return decideByRules({ ...world, rules: rulesFor(world.workload, policy) });
}
