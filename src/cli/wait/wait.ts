// `wave wait KIND/NAME...`. This folder waits and reports progress; src/cli/cluster/explanation explains the state of a workload.
import { formatDuration } from "../../domain/syntax/time.ts";
import { longestTimerMs, systemClock } from "../../lib/clock.ts";
import { readRunningPolicy, withAvailableKind } from "../cluster/running-wave/known-policy.ts";
import { clusterCommand } from "../command/cluster-command.ts";
import {
  accepting,
  type Command,
  errorLine,
  exitCodeFor,
  exitCodes,
  outputLine,
  type Terminal,
} from "../command/command.ts";
import type { CommandCall } from "../command/help.ts";
import {
  objectName,
  parseObjectArguments,
  qualifiedName,
  workloadArgumentKinds,
} from "../command/workload-argument.ts";
import { connectionFlags, namespaceFlag } from "../flags/connection-flags.ts";
import { bool, duration } from "../flags/flag-types.ts";
import { inheritedFlags } from "../flags/run-flags.ts";
import { liveLines } from "../output/live-lines.ts";
import { sentences } from "../output/sentences.ts";
import { paintFor, tableLines } from "../output/table.ts";
import { type WaitRequest, waitForWorkload } from "./wait-for-workload.ts";

// The flag of the same name of the running Wave is about its canary, and comes from its Deployment.
const { soak: canarySoak, ...runningFlags } = inheritedFlags;

const flags = {
  namespace: namespaceFlag,
  timeout: duration({
    group: namespaceFlag.group,
    default: 300_000,
    minMs: 1,
    zero: "one check without waiting",
    help: "Maximum time to wait. 0: check once.",
  }),
  soak: duration({
    group: namespaceFlag.group,
    default: 0,
    minMs: 1,
    zero: "no such time",
    help: "Time for which the workloads must stay complete, without a restart of a container. Adds to the timeout.",
  }),
  gone: bool({
    group: namespaceFlag.group,
    default: false,
    help: "Wait also until no Pod with another configuration is terminating, for example after you revoke a credential.",
  }),

  ...connectionFlags,
  ...runningFlags,
};

/**
 * Waits until every Pod of each workload is ready and runs with the current configuration. Otherwise writes one error for each workload: exit
 * code 1 if a rollout did not complete in time or needs a person, 3 if the state could not be read.
 */
const waitForAll = clusterCommand({
  name: "wait",
  flags,
  kinds: workloadArgumentKinds,
  help: {
    usage: "wave wait KIND/NAME... [flags]",
    description:
      "Wait until every Pod of these workloads runs with the current configuration. For pipelines, right after kubectl apply.",
    examples: [
      ["kubectl apply -f shop/ && wave wait deployment/web sts/db -n shop", "a pipeline step"],
      ["wave wait deployment/web -n shop --soak=10m", "complete and stable for ten minutes"],
      ["wave wait deployment/web -n shop --gone", "no Pod with the old configuration exists any more"],
      ["wave wait deployment/web -n shop --timeout=0", "check once, without waiting"],
    ],
    usualFlags: ["namespace", "timeout", "soak", "gone"],
    details: [
      "The command ends early if only a person can continue: a rollout failed, a change is halted, or a workload has not opted in or exceeds a limit.",
      "It uses your permissions and writes nothing.",
    ],
    exits: {
      [exitCodes.done]: "Every Pod of every workload is ready and runs with the current configuration.",
      [exitCodes.no]: "Timeout, only a person can continue, or a workload was not found.",
    },
  },
  read: (call) => {
    const { positionals, values, terminal } = call;
    const workloads = parseObjectArguments(positionals, workloadArgumentKinds);
    return async (cluster) => {
      const namespace = values.namespace ?? cluster.namespace;
      const policy = await readRunningPolicy(cluster, withoutSoak(call), namespace);
      const { soak: soakMs, gone } = values;
      const progressLines = reportTo(
        terminal,
        workloads.map((each) => objectName(withAvailableKind(each, policy))),
      );
      const timeout = new AbortController();
      const cancel = systemClock.timer(Math.min(values.timeout + values.soak, longestTimerMs), () => timeout.abort());
      try {
        const results = await Promise.all(
          workloads.map(async (each) => {
            const target = { ...withAvailableKind(each, policy), namespace };
            const report: WaitRequest["report"] = (line, progress) => progressLines(objectName(target), line, progress);
            return {
              target,
              ...(await waitForWorkload({ cluster, policy, target, timeout: timeout.signal, soakMs, gone, report })),
            };
          }),
        );
        for (const { target, progress, state, message, next } of results) {
          if (progress === "done") continue;
          const timedOut = progress === "open" && values.timeout > 0;
          const after = timedOut ? `still ${state} after ${formatDuration(values.timeout)}` : state;
          terminal.writeError(errorLine(`${qualifiedName(target)}: ${after}. ${sentences(message, next)}`));
        }
        return exitCodeFor({
          no: results.some(({ progress, complete }) => progress !== "done" && complete),
          complete: results.every(({ complete }) => complete),
        });
      } finally {
        cancel();
        // If one workload could not be read, the others stop waiting.
        timeout.abort();
      }
    };
  },
});

/** Returns the call as the policy of the running Wave needs it: `--soak` of this command is not a flag of Wave. */
function withoutSoak(
  call: CommandCall<typeof flags>,
): CommandCall<Omit<typeof flags, "soak"> & Pick<typeof inheritedFlags, "soak">> {
  const given = new Map([...call.given].filter(([name]) => name !== "soak"));
  return { ...call, given, values: { ...call.values, soak: canarySoak.default } };
}

/** Waits as {@link waitForAll}. The variable WAVE_SOAK is about the canary of Wave, and sets no flag of this command. */
export const waitCommand: Command = accepting((args, terminal) => {
  const { WAVE_SOAK: _canary, ...env } = terminal.env;
  return waitForAll(args, { ...terminal, env });
}, waitForAll.accepts ?? { flags });

/** Receives what one of the workloads waits for, or that it is done. */
type ReportProgress = (name: string, ...report: Parameters<WaitRequest["report"]>) => void;

/** Returns a function that reports progress: on a terminal as one line for each workload, which is replaced, otherwise as a line for each change. */
function reportTo(terminal: Terminal, names: readonly string[]): ReportProgress {
  const { live, write } = terminal;
  if (live === undefined) return (name, line) => write(outputLine(`${name}: ${line}`));
  const draw = liveLines(live);
  const paint = paintFor(terminal);
  const last = new Map(names.map((each): [string, Parameters<WaitRequest["report"]>] => [each, ["", "open"]]));
  return (name, ...report) => {
    last.set(name, report);
    const rows = [...last].map(([each, [line]]) => [each, line]);
    const styles = [...last.values()].map(([, progress]) => (progress === "done" ? "green" : "cyan"));
    draw(tableLines(rows, 2, (text, row, column) => (column === 0 ? text : paint(styles[row], text))));
  };
}
