import type { PacingFlags } from "../../domain/policy/policy.ts";
import { policyRows } from "../../domain/policy/policy-rows.ts";
import { formatDuration } from "../../domain/syntax/time.ts";
import { parseWindow } from "../../domain/syntax/window.ts";
import { bool, duration, type Flag, text, wholeNumber } from "./flag-types.ts";
import type { FlagValues } from "./parse-flags.ts";

const group = "Pacing";

const gateGroup = "Alert gate";

/** The soak time by default, and with an alert gate, in milliseconds: an alert needs time to fire. */
const [soakMs, gatedSoakMs] = [10_000, 120_000];

/** The flags that decide when a due rollout may start, one row a flag, in the order of `--help-all`. */
export const pacingFlags = {
  settle: duration({
    group,
    default: 1_000,
    minMs: 1,
    zero: "no delay",
    help: "Delay between the last change of the configuration of a workload and its rollout, so that several edits become one rollout. While more changes arrive, at most ten times this delay after the first change. 0: roll at once, for each change.",
  }),
  "max-concurrent-rollouts": wholeNumber({
    group,
    default: 50,
    zero: "no batches, all at once",
    help: "Maximum number of workloads in one namespace that roll at once for one changed object. Other workloads wait until these workloads are complete. 0: no batches, all at once.",
  }),
  soak: {
    ...duration({
      group,
      default: soakMs,
      minMs: 1,
      zero: "no soak time",
      help: "Time that the canary must stay complete before the other workloads follow.",
    }),
    default: undefined,
    shownDefault: `${formatDuration(soakMs)}, or ${formatDuration(gatedSoakMs)} with --gate-prometheus-url`,
  } satisfies Flag<number | undefined>,
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
  "gate-prometheus-url": text({
    group: gateGroup,
    placeholder: "URL",
    allowed: "an http or https URL without a user, a query or a fragment, such as http://prometheus.monitoring:9090",
    form: isPrometheusUrl,
    help: "Prometheus whose firing alerts with the label wave_gate hold the rollouts of their namespace. Default: no alert holds a rollout.",
  }),
};

/** The other flags of the alert gate. */
export const gateFlags = {
  "gate-prometheus-token-file": text({
    group: gateGroup,
    placeholder: "FILE",
    help: "File with a bearer token for Prometheus. Read again for each query.",
  }),
  "gate-prometheus-ca-file": text({
    group: gateGroup,
    placeholder: "FILE",
    help: "File with the certificate authorities of Prometheus in PEM. Read again for each query. Default: those of the machine.",
  }),
  "gate-required": bool({
    group: gateGroup,
    default: false,
    help: "Hold rollouts as long as Prometheus does not answer. Otherwise rollouts continue after 2 minutes without an answer.",
  }),
};

/** Reports whether a text is the URL of a server, possibly with a path. A login belongs into a file. */
function isPrometheusUrl(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || !["http:", "https:"].includes(url.protocol)) return false;
  return [url.username, url.password, url.search, url.hash].every((part) => part === "");
}

/** Returns the settings that these flags give. */
export function pacingSettings(values: FlagValues<typeof pacingFlags>): PacingFlags {
  return {
    settleMs: values.settle,
    maxConcurrent: values["max-concurrent-rollouts"],
    soakMs: values.soak ?? (values["gate-prometheus-url"] === undefined ? soakMs : gatedSoakMs),
    haltAfterFailures: values["halt-after-failures"],
    rolloutTimeoutMs: values["rollout-timeout"],
    observe: values.observe,
    window: values.window,
  };
}
