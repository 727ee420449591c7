// `wave explain KIND/NAME`. This folder renders explanations; src/cli/cluster/explanation makes them.
import { explainWorkload, noteOfFlags } from "../cluster/explanation/explanation.ts";
import { explainObject } from "../cluster/explanation/object-explanation.ts";
import { readRunningPolicy } from "../cluster/running-wave/effective-flags.ts";
import { withAvailableKind } from "../cluster/running-wave/known-policy.ts";
import { readObjectFacts } from "../cluster/snapshot/read-many.ts";
import { readWorkloadSnapshot } from "../cluster/snapshot/read-one.ts";
import { clusterCommand } from "../command/cluster-command.ts";
import { exitCodeFor, exitCodes, noteLine } from "../command/command.ts";
import { objectNotFound } from "../command/command-failure.ts";
import {
  type ArgumentKind,
  configArgumentKinds,
  isWorkloadRow,
  parseOneArgument,
  type WorkloadArgument,
  workloadArgumentKinds,
} from "../command/workload-argument.ts";
import { connectionFlags, namespaceFlag } from "../flags/connection-flags.ts";
import { choice } from "../flags/flag-types.ts";
import { inheritedFlags } from "../flags/inherited-flags.ts";
import { isForProgram, programForms, programText } from "../output/sentences.ts";
import { hasColors, paintOf } from "../output/table.ts";
import { renderExplanation } from "./explain-text.ts";
import { renderObject } from "./object-text.ts";

const flags = {
  namespace: namespaceFlag,
  output: choice({
    group: namespaceFlag.group,
    short: "o",
    of: ["text", ...programForms],
    default: "text",
    placeholder: "FORMAT",
    help: "text, json or yaml.",
  }),

  ...connectionFlags,
  ...inheritedFlags,
};

const kinds: readonly ArgumentKind<string>[] = [...workloadArgumentKinds, ...configArgumentKinds];

/**
 * Explains one workload as it is in the cluster now: what Wave would do and why; or who reads a ConfigMap or Secret. Writes nothing to the
 * cluster.
 */
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
        terminal.write(
          isForProgram(values.output)
            ? await programText(explanation, values.output)
            : renderObject(explanation, terminal.outputColumns),
        );
        const unknown = explanation.readers.some(({ edit }) => edit === "unknown");
        return exitCodeFor({ no: isAbsent, complete: !unknown && explanation.unread.length === 0 });
      }
      const argument: WorkloadArgument = { kind, resource, name };
      const snapshot = await readWorkloadSnapshot(cluster, withAvailableKind(argument, policy), namespace, policy);
      const note = noteOfFlags([snapshot]);
      if (note !== undefined) terminal.writeError(noteLine(note));
      const explanation = explainWorkload(snapshot);
      const paint = paintOf(hasColors(terminal.env, terminal.outputToTerminal));
      terminal.write(
        isForProgram(values.output)
          ? await programText(explanation, values.output)
          : renderExplanation(explanation, { now: Date.now(), paint, width: terminal.outputColumns }),
      );
      return exitCodeFor({ complete: explanation.state !== "unknown" && snapshot.gaps.length === 0 });
    };
  },
});
