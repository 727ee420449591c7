// `wave wait KIND/NAME...`. This folder waits and reports progress; src/cli/cluster/explanation explains the state of a workload.
import { formatDuration } from "../../domain/syntax/duration.ts";
import { longestTimerMs, systemClock } from "../../lib/clock.ts";
import { withAvailableKind } from "../cluster/running-wave/available-kinds.ts";
import { readRunningPolicy } from "../cluster/running-wave/effective-flags.ts";
import { clusterCommand } from "../command/cluster-command.ts";
import { exitCodeFor, exitCodes } from "../command/exit-codes.ts";
import { errorLine } from "../command/messages.ts";
import { objectName, qualifiedName } from "../command/named-object.ts";
import { parseObjectArguments, workloadArgumentKinds } from "../command/workload-argument.ts";
import { connectionFlags } from "../flags/connection-flags.ts";
import { duration } from "../flags/flag-types.ts";
import { inheritedFlags } from "../flags/inherited-flags.ts";
import { namespaceFlag } from "../flags/namespace-flag.ts";
import { printable } from "../output/printable.ts";
import { sentences } from "../output/sentences.ts";
import { waitForWorkload } from "./wait-for-workload.ts";

const flags = {
  namespace: namespaceFlag,
  timeout: duration({
    group: namespaceFlag.group,
    default: 300_000,
    minMs: 1,
    zero: "one check without waiting",
    help: "Maximum time to wait. 0: check once.",
  }),

  ...connectionFlags,
  ...inheritedFlags,
};

/**
 * Waits until every Pod of each workload runs with the current configuration. Otherwise writes one error for each workload: exit
 * code 1 if a rollout did not complete in time or needs a person, 3 if the state could not be read.
 */
export const waitCommand = clusterCommand({
  name: "wait",
  flags,
  kinds: workloadArgumentKinds,
  help: {
    usage: "wave wait KIND/NAME... [flags]",
    description:
      "Wait until every Pod of these workloads runs with the current configuration. For pipelines, right after kubectl apply.",
    examples: [
      ["kubectl apply -f shop/ && wave wait deployment/web sts/db -n shop", "a pipeline step"],
      ["wave wait deployment/web -n shop --timeout=0", "check once, without waiting"],
    ],
    usualFlags: ["namespace", "timeout"],
    details: [
      "The command ends early if only a person can continue: a rollout failed, a change is halted, or a workload has not opted in or exceeds a limit.",
      "It uses your permissions and writes nothing.",
    ],
    exits: {
      [exitCodes.done]: "Every Pod of every workload runs with the current configuration.",
      [exitCodes.no]: "Timeout, only a person can continue, or a workload was not found.",
    },
  },
  read: (call) => {
    const { positionals, values, terminal } = call;
    const workloads = parseObjectArguments(positionals, workloadArgumentKinds);
    return async (cluster) => {
      const namespace = values.namespace ?? cluster.namespace;
      const policy = await readRunningPolicy(cluster, call, namespace);
      const timeout = new AbortController();
      const cancel = systemClock.timer(Math.min(values.timeout, longestTimerMs), () => timeout.abort());
      try {
        const results = await Promise.all(
          workloads.map(async (each) => {
            const target = { ...withAvailableKind(each, policy), namespace };
            const report = (line: string) => terminal.write(`${printable(`${objectName(target)}: ${line}`)}\n`);
            return { target, ...(await waitForWorkload({ cluster, policy, target, timeout: timeout.signal, report })) };
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
