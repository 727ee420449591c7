// `wave list`. This folder renders lists; src/cli/cluster reads the workloads and explains them.
import { explainWorkload } from "../cluster/explanation/explanation.ts";
import { readRunningPolicy } from "../cluster/running-wave/effective-flags.ts";
import { readWorkloadSnapshots } from "../cluster/snapshot/read-many.ts";
import { clusterCommand } from "../command/cluster-command.ts";
import { appendCluster } from "../command/command-failure.ts";
import { argumentErrorTexts } from "../command/error-texts.ts";
import { exitCodeFor } from "../command/exit-codes.ts";
import { warningLine } from "../command/messages.ts";
import { UsageError } from "../flags/usage-error.ts";
import { hasColors, paintOf } from "../output/paint.ts";
import { isForProgram } from "../output/program-text.ts";
import { listFlags } from "./list-flags.ts";
import { type ListedWorkload, listedWorkload, renderList } from "./list-output.ts";

/** Lists every workload that opted in, with its state. Writes one warning for each kind that cannot be listed. */
export const listCommand = clusterCommand({
  name: "list",
  flags: listFlags,
  help: async (scope) => (await import("./list-help.ts")).listHelp(scope),
  read: (call) => {
    const { positionals, values, terminal } = call;
    const [extra] = positionals;
    if (extra !== undefined) throw new UsageError(argumentErrorTexts.surplusOfList(extra));
    return async (cluster) => {
      const namespace = values["all-namespaces"] ? undefined : (values.namespace ?? cluster.namespace);
      const policy = await readRunningPolicy(cluster, call, namespace);
      const { snapshots, failures, gaps } = await readWorkloadSnapshots(cluster, namespace, values.selector, policy);
      const all = snapshots.map((each) => listedWorkload(explainWorkload(each)));
      const unread = [...failures, ...gaps];
      const workloads = all.filter(({ state }) => values.state?.includes(state) ?? true).sort(byName);
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

function byName(a: ListedWorkload, b: ListedWorkload): number {
  const [first, second] = [a, b].map(({ namespace, kind, name }) => [namespace, kind, name].join(" "));
  return (first ?? "") < (second ?? "") ? -1 : 1;
}
