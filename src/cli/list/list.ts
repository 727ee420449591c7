// `wave list`. This folder renders lists; src/cli/cluster reads the workloads and explains them.
import { explainWorkload } from "../cluster/explanation/explanation.ts";
import { readRunningPolicy } from "../cluster/running-wave/effective-flags.ts";
import { readWorkloadSnapshots } from "../cluster/snapshot/read-many.ts";
import { meaningOfStates, workloadStateNames } from "../cluster/states/workload-states.ts";
import { clusterCommand } from "../command/cluster-command.ts";
import { appendCluster } from "../command/command-failure.ts";
import { argumentErrorTexts } from "../command/error-texts.ts";
import { exitCodeFor, exitCodes } from "../command/exit-codes.ts";
import { warningLine } from "../command/messages.ts";
import { byObjectName } from "../command/named-object.ts";
import { connectionFlags } from "../flags/connection-flags.ts";
import { choice, text, words } from "../flags/flag-types.ts";
import { inheritedFlags } from "../flags/inherited-flags.ts";
import { allNamespacesFlag, namespaceFlag } from "../flags/namespace-flag.ts";
import { hasColors, paintOf } from "../output/paint.ts";
import { isForProgram, programForms } from "../output/program-text.ts";
import { listedWorkload, renderList } from "./list-output.ts";

const { group } = namespaceFlag;

/** The flags of `wave list`, one row a flag, in the order of `--help`. */
export const listFlags = {
  namespace: namespaceFlag,
  "all-namespaces": allNamespacesFlag,
  state: words({
    group,
    of: workloadStateNames,
    placeholder: "STATE,...",
    help: "Only these states, see wave help states.",
  }),
  selector: text({
    group,
    short: "l",
    placeholder: "LABELS",
    help: "Only workloads with these labels, for example app=web,tier!=test.",
  }),
  output: choice({
    group,
    short: "o",
    of: ["table", "wide", ...programForms],
    default: "table",
    placeholder: "FORMAT",
    help: "table, wide (more columns), json or yaml.",
  }),

  ...connectionFlags,
  ...inheritedFlags,
};

/** Lists every workload that opted in, with its state. Writes one warning for each kind that cannot be listed. */
export const listCommand = clusterCommand({
  name: "list",
  flags: listFlags,
  help: {
    usage: "wave list [flags]",
    description: "List the workloads that opted in, with state, up-to-date Pods and reason.",
    examples: [
      ["wave list -A --state=failed,waiting,held", "needs attention"],
      ["wave list -n shop -o wide", "reasons in words"],
      ["wave list -n shop -l app=web -o json", "workloads with a label, as JSON"],
    ],
    usualFlags: ["namespace", "all-namespaces", "state", "selector", "output"],
    details: [
      "The list shows what Wave would do now. It uses your permissions, writes nothing and works if Wave is down.",
      "The state of a workload is unknown if you lack permission to read something that it depends on. -o wide shows the reason. All other workloads are listed.",
    ],
    words: { heading: "States", meanings: meaningOfStates },
    exits: { [exitCodes.done]: "The list is complete." },
  },
  surplus: argumentErrorTexts.surplusOfList,
  read: (call) => {
    const { values, terminal } = call;
    return async (cluster) => {
      const namespace = values["all-namespaces"] ? undefined : (values.namespace ?? cluster.namespace);
      const policy = await readRunningPolicy(cluster, call, namespace);
      const { snapshots, failures, gaps } = await readWorkloadSnapshots(cluster, namespace, values.selector, policy);
      const all = snapshots.map((each) => listedWorkload(explainWorkload(each)));
      const unread = [...failures, ...gaps];
      const workloads = all.filter(({ state }) => values.state?.includes(state) ?? true).sort(byObjectName);
      for (const line of unread) terminal.writeError(warningLine(appendCluster(line, cluster)));
      if (workloads.length > 0 || isForProgram(values.output)) {
        const paint = paintOf(hasColors(terminal.env, terminal.outputToTerminal));
        const form = { output: values.output, allNamespaces: values["all-namespaces"], now: Date.now(), paint };
        terminal.write(await renderList(workloads, form));
      } else if (unread.length === 0) {
        const isFiltered = values.state !== undefined || values.selector !== undefined;
        terminal.writeError(emptyLine(namespace, isFiltered));
      }
      return exitCodeFor({ complete: unread.length === 0 && all.every(({ state }) => state !== "unknown") });
    };
  },
});

function emptyLine(namespace: string | undefined, isFiltered: boolean): string {
  const where = namespace === undefined ? "" : ` in namespace ${namespace}`;
  return isFiltered
    ? `No matching workloads found${where}.\n`
    : `No workloads found${where}. wave list shows only workloads that opted in.\n`;
}
