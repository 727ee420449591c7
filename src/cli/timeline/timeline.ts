// `wave timeline`. This folder renders what happened; src/cli/cluster/timeline reads it.
import { readRunningPolicy } from "../cluster/running-wave/known-policy.ts";
import { readTimeline } from "../cluster/timeline/read-timeline.ts";
import { type TimelineEntry, timelineOf, timeOfDay } from "../cluster/timeline/timeline.ts";
import { timeText } from "../cluster/timeline/wave-events.ts";
import { clusterCommand } from "../command/cluster-command.ts";
import {
  appendCluster,
  argumentErrorTexts,
  exitCodeFor,
  exitCodes,
  outputLine,
  warningLine,
} from "../command/command.ts";
import { allNamespacesFlag, connectionFlags, namespaceFlag, outputFlag } from "../flags/connection-flags.ts";
import { duration } from "../flags/flag-types.ts";
import { inheritedFlags } from "../flags/run-flags.ts";
import type { Style } from "../output/sentences.ts";
import { isForProgram, joined, type Paint, paintFor, programText, tableLines } from "../output/table.ts";

const flags = {
  namespace: namespaceFlag,
  "all-namespaces": allNamespacesFlag,
  since: duration({
    group: namespaceFlag.group,
    default: 12 * 3_600_000,
    minMs: 1_000,
    help: "Only what happened, or ended, in this time.",
  }),
  output: outputFlag(["table"], "table, json or yaml."),

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
        terminal.write(renderTimeline(entries, namespace === undefined, paintFor(terminal)));
      }
      return exitCodeFor({ complete: gaps.length === 0 });
    };
  },
});

function styleOf({ type, result }: TimelineEntry): Style | undefined {
  if (type === "halt" || result === "failed") return "red";
  if (type === "hold") return "yellow";
  if (type === "edit" || type === "leader") return "dim";
  return result === "complete" ? "green" : "cyan";
}

/** Returns one line for each entry. A time has its date if that differs from the date of the line before. */
export function renderTimeline(entries: readonly TimelineEntry[], withNamespace: boolean, paint: Paint): string {
  const rows = entries.map(({ at, namespace, about, text }, index) => [
    timeOfDay(at, entries[index - 1]?.at ?? at),
    ...(withNamespace ? [namespace] : []),
    `${about} ${text}`,
  ]);
  const last = withNamespace ? 2 : 1;
  const lines = tableLines(rows, 2, (cell, row, column) => {
    const entry = entries[row];
    return entry !== undefined && column === last ? paint(styleOf(entry), cell) : cell;
  });
  return joined(lines);
}

function entryForProgram({ at, endedAt, ...entry }: TimelineEntry): object {
  return { at: timeText(at), endedAt: endedAt === null ? null : timeText(endedAt), ...entry };
}
