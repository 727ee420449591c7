import type { PacingFlags } from "../../domain/policy/pacing-flags.ts";
import { policyRows } from "../../domain/policy/policy-rows.ts";
import { formatDuration } from "../../domain/syntax/duration.ts";
import { parseWindow } from "../../domain/syntax/window.ts";
import { flagErrorTexts } from "./flag-error-texts.ts";
import { bool, duration, text, wholeNumber } from "./flag-types.ts";
import type { FlagValues } from "./parse-flags.ts";
import { UsageError } from "./usage-error.ts";

const group = "Pacing";

/** The flags that decide when a due rollout may start, one row a flag, in the order of `--help-all`. */
export const pacingFlags = {
  settle: duration({
    group,
    default: 1_000,
    minMs: 1,
    zero: "no delay",
    help: "Delay between the last change of the configuration of a workload and its rollout, so that several edits become one rollout. 0: roll at once, for each change.",
  }),
  "settle-max": duration({
    group,
    default: 10_000,
    minMs: 1,
    zero: "no delay",
    help: "Maximum delay after the first change, if more changes follow.",
  }),
  "max-concurrent-rollouts": wholeNumber({
    group,
    default: 50,
    zero: "no batches, all at once",
    help: "Maximum number of workloads in one namespace that roll at once for one changed object. Other workloads wait until these workloads are complete. 0: no batches, all at once.",
  }),
  "canary-size": wholeNumber({
    group,
    default: 1,
    help: "Size of the canary: the number of workloads of a namespace that roll first after a change.",
  }),
  soak: duration({
    group,
    default: 10_000,
    minMs: 1,
    zero: "no soak time",
    help: "Time that the canary must stay complete before the other workloads follow.",
  }),
  "halt-after-failures": wholeNumber({
    group,
    default: 3,
    zero: "no halt",
    help: "Number of failed rollouts after which Wave halts the rest of a change. In the canary, one failure is enough. 0: never halt.",
  }),
  "rollout-timeout": duration({
    group,
    default: 600_000,
    minMs: 1_000,
    help: "Maximum time of a rollout without a new ready Pod. After that Wave treats the rollout as failed.",
  }),
  window: text({
    group,
    placeholder: "WINDOW",
    shownDefault: "at any time",
    form: (value) => parseWindow(value) !== undefined,
    allowed: policyRows.window.allowed,
    help: 'Times at which rollouts may start, for example "Mon-Fri 22:00-04:00 Europe/Berlin; Sat,Sun 00:00-24:00".',
  }),
  observe: bool({ group, default: false, help: "Dry run: write nothing, and only report which workloads would roll." }),
};

/**
 * Returns the settings that these flags give.
 * @throws UsageError if two flags contradict each other.
 */
export function pacingSettings(values: FlagValues<typeof pacingFlags>): PacingFlags {
  const { settle, "settle-max": settleMax } = values;
  if (settle > settleMax)
    throw new UsageError(flagErrorTexts.settleTooLong(formatDuration(settle), formatDuration(settleMax)));
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
