// `wave explain KIND/NAME`. This folder renders explanations; src/cli/cluster/explanation makes them.

import { formatCount, quoted, waveArguments } from "../../domain/syntax/names.ts";
import { printable } from "../../lib/printable.ts";
import { explainWorkload, noteOfFlags } from "../cluster/explanation/explanation.ts";
import { explainObject, type ObjectExplanation, type ObjectReader } from "../cluster/explanation/object-explanation.ts";
import { readRunningPolicy, withAvailableKind } from "../cluster/running-wave/known-policy.ts";
import { readObjectFacts, readWorkloadSnapshot } from "../cluster/snapshot/read-one.ts";
import { clusterCommand } from "../command/cluster-command.ts";
import { type ArgumentKind, exitCodeFor, exitCodes, noteLine, objectNotFound } from "../command/command.ts";
import {
  configArgumentKinds,
  isWorkloadRow,
  objectName,
  parseOneArgument,
  type WorkloadArgument,
  workloadArgumentKinds,
} from "../command/workload-argument.ts";
import { connectionFlags, namespaceFlag, outputFlag } from "../flags/connection-flags.ts";
import { inheritedFlags } from "../flags/run-flags.ts";
import { sentences } from "../output/sentences.ts";
import { answerText, joined, paintFor, tableLines, wrappedBehind } from "../output/table.ts";
import { keyList, renderExplanation } from "./explain-text.ts";

const flags = {
  namespace: namespaceFlag,
  output: outputFlag(["text"], "text, json or yaml."),

  ...connectionFlags,
  ...inheritedFlags,
};

const kinds: readonly ArgumentKind<string>[] = [...workloadArgumentKinds, ...configArgumentKinds];

/** Explains what Wave would do with one workload now, and why; or who reads a ConfigMap or Secret. Writes nothing to the cluster. */
export const explainCommand = clusterCommand({
  name: "explain",
  flags,
  kinds,
  help: {
    usage: "wave explain KIND/NAME [flags]",
    description:
      "Explain one workload: its state, what Wave does next and why, and which ConfigMaps and Secrets its Pods read. Or explain a ConfigMap or Secret: who reads it, and what an edit would do. Never shows a value.",
    examples: [
      ["wave explain deployment/web -n shop", "one Deployment"],
      ["wave explain sts db -n shop -o json", "a StatefulSet, as JSON"],
      ["wave explain configmap/page -n shop", "who reads it, and what an edit rolls"],
      ["wave explain ds/agent --cross-namespace=any", "as if Wave ran with this flag"],
    ],
    usualFlags: ["namespace", "output"],
    details: [
      "The answer is about the cluster as it is now. It uses your permissions, writes nothing and works if Wave is down.",
      "KIND is deployment, statefulset, daemonset (or deploy, sts, ds), a kind of --workload-kinds, configmap or secret (cm).",
    ],
    exits: {
      [exitCodes.done]: "The explanation is complete.",
      [exitCodes.no]: "The workload, or the ConfigMap or Secret, was not found.",
    },
  },
  read: (call) => {
    const { positionals, values, terminal } = call;
    const { kind, resource, name } = parseOneArgument(positionals, kinds);
    return async (cluster) => {
      const namespace = values.namespace ?? cluster.namespace;
      const policy = await readRunningPolicy(cluster, call, namespace);
      if (!isWorkloadRow(resource)) {
        const object = { kind: kind === "Secret" ? "Secret" : "ConfigMap", namespace, name } as const;
        const explanation = explainObject(await readObjectFacts(cluster, object, policy));
        const isAbsent = explanation.state === "absent";
        if (isAbsent && explanation.readers.length === 0) throw objectNotFound(kind, name, namespace, cluster.source);
        const forPeople = () => renderObject(explanation, terminal.outputColumns);
        terminal.write(await answerText(values.output, explanation, forPeople));
        const unknown = explanation.readers.some(({ edit }) => edit === "unknown");
        return exitCodeFor({ no: isAbsent, complete: !unknown && explanation.unread.length === 0 });
      }
      const argument: WorkloadArgument = { kind, resource, name };
      const snapshot = await readWorkloadSnapshot(cluster, withAvailableKind(argument, policy), namespace, policy);
      const note = noteOfFlags([snapshot]);
      if (note !== undefined) terminal.writeError(noteLine(note));
      const explanation = explainWorkload(snapshot);
      const form = { now: Date.now(), paint: paintFor(terminal), width: terminal.outputColumns };
      terminal.write(await answerText(values.output, explanation, () => renderExplanation(explanation, form)));
      return exitCodeFor({ complete: explanation.state !== "unknown" && snapshot.gaps.length === 0 });
    };
  },
});

/** Returns an explanation of a ConfigMap or Secret for a person: its state, who reads it, and what an edit would do. */
export function renderObject(explanation: ObjectExplanation, width: number | undefined): string {
  const { object, readers, notOptedIn, misused, unread } = explanation;
  const wrapped = (texts: readonly string[]) => texts.flatMap((text) => wrappedBehind("", printable(text), width, 0));
  const holds = readers.filter(({ hold }) => hold !== null);
  const blocks = [
    [printable(`${object.kind} ${object.namespace}/${object.name}`)],
    wrapped([stateLine(explanation), editLine(explanation)]),
    table(explanation).map(printable),
    wrapped(holds.map((each) => `${nameIn(explanation, each)}: ${sentences(each.hold?.message ?? "")}`)),
    wrapped(notOptedIn.map((each) => `${nameIn(explanation, each)} reads it, but has not opted in.`)),
    wrapped([
      ...(misused === null ? [] : [`Warning: ${sentences(misused)}`]),
      ...unread.map((why) => `Incomplete: ${sentences(why)}`),
    ]),
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map(joined)
    .join("\n");
}

function stateLine({ state, object, holdReason }: ObjectExplanation): string {
  switch (state) {
    case "held":
      return `Changes are held${holdReason === null ? "" : `: ${quoted(holdReason)}`}. Run: wave release ${waveArguments(object)}.`;
    case "ignored":
      return "No workload tracks it, because its annotations say so.";
    case "present":
      return "Nothing on it holds its changes.";
    case "absent":
      return "It does not exist.";
    case "forbidden":
    case "unreadable":
      return "It cannot be read, so what an edit would do is unknown.";
  }
}

function editLine({ readers, state }: ObjectExplanation): string {
  if (readers.length === 0) return "No workload that opted in reads it. An edit rolls nothing.";
  const count = (...outcomes: readonly ObjectReader["edit"][]) =>
    readers.filter(({ edit }) => outcomes.includes(edit)).length;
  const readBy = `${formatCount(readers.length)} ${readers.length === 1 ? "workload that opted in reads" : "workloads that opted in read"} it.`;
  if (state === "absent") return readBy;
  const held = count("held");
  const heldBy = held === 0 ? "" : `, and ${formatCount(held)} ${held === 1 ? "is" : "are"} held`;
  return `${readBy} An edit of the keys below rolls ${formatCount(count("roll", "firstHash"))}${heldBy}.`;
}

function table(explanation: ObjectExplanation): readonly string[] {
  const { readers, state } = explanation;
  if (readers.length === 0) return [];
  const rows = readers.map((reader) => [
    nameIn(explanation, reader),
    reader.state,
    reader.keys === "all" ? "all" : keyList(reader.keys) || "-",
    reader.hold === null ? reader.edit : `held (${reader.hold.reason})`,
  ]);
  return tableLines([["WORKLOAD", "STATE", "KEYS", state === "absent" ? "NOW" : "AFTER AN EDIT"], ...rows], 2);
}

function nameIn({ object }: ObjectExplanation, each: Pick<ObjectReader, "kind" | "namespace" | "name">): string {
  return each.namespace === object.namespace ? objectName(each) : `${each.namespace}/${objectName(each)}`;
}
