import type { PacingFlags } from "../../domain/policy/pacing-flags.ts";
import { policyRows } from "../../domain/policy/policy-rows.ts";
import { formatDuration } from "../../domain/syntax/duration.ts";
import { parseWindow } from "../../domain/syntax/window.ts";
import { bool, count, duration, text } from "./flag-types.ts";
import type { FlagValues } from "./parse-flags.ts";
import { UsageError } from "./usage-error.ts";

const group = "When workloads are rolled";

/** The flags that say when what is due may happen, one row a flag, in the order of `--help`. */
export const pacingFlags = {
  settle: duration({
    group,
    default: 1_000,
    minMs: 1,
    zero: "at once",
    help: "How long after the last change of what it reads a workload is rolled, so that several changes are one rollout. 0: at once, for each change.",
  }),
  "settle-max": duration({
    group,
    default: 10_000,
    minMs: 1,
    zero: "at once",
    help: "How long after the first change it is rolled at the latest, while more of them come.",
  }),
  "max-concurrent-rollouts": count({
    group,
    default: 50,
    zero: "no waves: all at once",
    help: "Workloads of one namespace that one changed object may roll at once; the others wait until these are complete. 0: no waves.",
  }),
  "canary-size": count({
    group,
    default: 1,
    help: "Workloads of one namespace that a changed object rolls before all others.",
  }),
  soak: duration({
    group,
    default: 10_000,
    minMs: 1,
    zero: "no longer",
    help: "How long the first wave must have been complete before the others follow.",
  }),
  "halt-after-failures": count({
    group,
    default: 3,
    zero: "never, whatever fails",
    help: "Failed rollouts of one change after which the rest of it is halted; in the first wave one suffices. 0: never.",
  }),
  "rollout-timeout": duration({
    group,
    default: 600_000,
    minMs: 1_000,
    help: "How long a rollout may take before it counts as failed.",
  }),
  window: text({
    group,
    placeholder: "WINDOW",
    shownDefault: "at any time",
    form: (value) => parseWindow(value) !== undefined,
    allowed: policyRows.window.allowed,
    help: 'When workloads may be rolled: "Mon-Fri 22:00-04:00 Europe/Berlin; Sat,Sun 00:00-24:00".',
  }),
  observe: bool({ group, default: false, help: "Write nothing: only tell what would be rolled." }),
};

/** What they were given. Throws a UsageError where two of them contradict each other. */
export function pacingSettings(values: FlagValues<typeof pacingFlags>): PacingFlags {
  const { settle, "settle-max": settleMax } = values;
  if (settle > settleMax)
    throw new UsageError(
      `--settle (${formatDuration(settle)}) must not be longer than --settle-max (${formatDuration(settleMax)})`,
    );
  return {
    settleMs: settle,
    settleMaxMs: settleMax,
    maxConcurrent: values["max-concurrent-rollouts"],
    canarySize: values["canary-size"],
    soakMs: values.soak,
    haltAfterFailures: values["halt-after-failures"],
    rolloutTimeoutMs: values["rollout-timeout"],
    observe: values.observe,
    window: values.window,
  };
}
