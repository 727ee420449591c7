import type { DueDecision } from "../decision.ts";
import { unpaced } from "../policy/pacing-flags.ts";
import type { Policy } from "../policy/policy.ts";
import { rolloutPolicyOf } from "../policy/rollout-policy.ts";
import type { Lookup } from "../view.ts";
import type { Workload } from "../workload.ts";
import { approval, hold, invalid, observed, window } from "./asked-holds.ts";
import { type Due, isRoll } from "./due.ts";
import type { Hold } from "./hold.ts";
import { inWaves } from "./in-waves.ts";
import { interval } from "./interval.ts";
import type { Moment } from "./moment.ts";
import { progressing } from "./progressing.ts";
import { settling } from "./settling.ts";
import { undone } from "./undone.ts";

/** One thing that may hold: a write of any kind, or only one that replaces running Pods. */
interface Row {
  readonly holds: "everything" | "rolls";
  readonly hold: (due: Due) => Hold | undefined;
}

/** What may hold, in the order in which it is asked: the first that does is told. */
const rows: readonly Row[] = [
  { holds: "everything", hold: observed },
  { holds: "rolls", hold: invalid },
  { holds: "rolls", hold },
  { holds: "rolls", hold: approval },
  { holds: "rolls", hold: window },
  { holds: "rolls", hold: settling },
  { holds: "rolls", hold: undone },
  { holds: "rolls", hold: interval },
  { holds: "rolls", hold: progressing },
  { holds: "rolls", hold: inWaves },
];

/** What keeps a write that is due from being made at this moment; undefined where nothing does. */
export function holdOf(
  workload: Workload,
  decision: DueDecision,
  lookup: Lookup,
  policy: Policy,
  moment: Moment,
): Hold | undefined {
  const flags = policy.pacing ?? unpaced;
  const due = { workload, decision, lookup, policy: rolloutPolicyOf(workload, policy), flags, moment };
  const roll = isRoll(workload, decision);
  for (const { holds, hold: ask } of rows) {
    const found = roll || holds === "everything" ? ask(due) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}
