// `wave timeline`. This folder renders what happened; src/cli/cluster/timeline reads it.
import { readRunningPolicy } from "../cluster/running-wave/effective-flags.ts";
import { readTimeline } from "../cluster/timeline/read-timeline.ts";
import { timelineOf } from "../cluster/timeline/timeline.ts";
import { clusterCommand } from "../command/cluster-command.ts";
import { appendCluster } from "../command/command-failure.ts";
import { argumentErrorTexts } from "../command/error-texts.ts";
import { exitCodeFor, exitCodes } from "../command/exit-codes.ts";
import { outputLine, warningLine } from "../command/messages.ts";
import { connectionFlags } from "../flags/connection-flags.ts";
import { duration } from "../flags/flag-types.ts";
import { inheritedFlags } from "../flags/inherited-flags.ts";
import { allNamespacesFlag, namespaceFlag } from "../flags/namespace-flag.ts";
import { tableFlag } from "../flags/output-flag.ts";
import { hasColors, paintOf } from "../output/paint.ts";
import { isForProgram, programText } from "../output/program-text.ts";
import { entryForProgram, renderTimeline } from "./timeline-output.ts";

const flags = {
  namespace: namespaceFlag,
  "all-namespaces": allNamespacesFlag,
  since: duration({
    group: namespaceFlag.group,
    default: 12 * 3_600_000,
    minMs: 1_000,
    help: "Only what happened, or ended, in this time.",
  }),
  output: tableFlag("table, json or yaml."),

  ...connectionFlags,
  ...inheritedFlags,
};

/** Shows edits, rollouts, holds, halts and leaders in the order of time. Writes nothing to the cluster, and prints no value. */
export const timelineCommand = clusterCommand({
  name: "timeline",
  flags,
  help: {
    usage: "wave timeline [flags]",
    description:
      "Show what happened: edits, rollouts with their causes and ends, holds, halts and leaders. Never shows a value.",
    examples: [
      ["wave timeline -n shop", "the last 12 hours of one namespace"],
      ["wave timeline -A --since=1h", "the last hour of the cluster"],
      ["wave timeline -A -o json", "all entries, as JSON"],
    ],
    usualFlags: ["namespace", "all-namespaces", "since", "output"],
    details: [
      "Rollouts come from the causes that Wave records and Kubernetes keeps with each revision. Edits come from these causes, and from managedFields: the last edit of each object that a workload reads.",
      "Holds, halts, leaders and most ends come from Events, which Kubernetes keeps for an hour by default. Leaders need permission to list Deployments in all namespaces, and Events in the namespace of Wave.",
      "Times are in the local time zone, in JSON and YAML in UTC.",
    ],
    exits: { [exitCodes.done]: "The timeline is complete, as far as Kubernetes keeps it." },
  },
  surplus: argumentErrorTexts.surplusNamespace,
  read: (call) => {
    const { values, terminal } = call;
    return async (cluster) => {
      const namespace = values["all-namespaces"] ? undefined : (values.namespace ?? cluster.namespace);
      const policy = await readRunningPolicy(cluster, call, namespace);
      const { gaps, ...facts } = await readTimeline(cluster.client, namespace, policy);
      const entries = timelineOf(facts, Date.now() - values.since);
      for (const line of gaps) terminal.writeError(warningLine(appendCluster(line, cluster)));
      if (isForProgram(values.output)) {
        terminal.write(await programText({ version: 1, entries: entries.map(entryForProgram) }, values.output));
      } else if (entries.length === 0) {
        terminal.writeError(outputLine("Nothing happened in this time, as far as Kubernetes keeps it."));
      } else {
        const paint = paintOf(hasColors(terminal.env, terminal.outputToTerminal));
        terminal.write(renderTimeline(entries, namespace === undefined, paint));
      }
      return exitCodeFor({ complete: gaps.length === 0 });
    };
  },
});
