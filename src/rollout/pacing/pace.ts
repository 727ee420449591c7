import type { DueDecision } from "../decision.ts";
import type { Policy } from "../policy/policy.ts";
import type { Lookup } from "../view.ts";
import type { Workload } from "../workload.ts";
import type { Hold } from "./hold.ts";
import type { Moment } from "./moment.ts";

/** What keeps a write that is due from being made at this moment; undefined where nothing does. */
export function holdOf(
  _workload: Workload,
  _due: DueDecision,
  _lookup: Lookup,
  _policy: Policy,
  _moment: Moment,
): Hold | undefined {
  return undefined;
}
