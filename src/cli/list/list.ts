import { quoted } from "../../domain/syntax/wording.ts";
import { clusterCommand } from "../cluster/cluster-command.ts";
import { readRunningPolicy } from "../cluster/effective-flags.ts";
import { explainWorkload } from "../cluster/explanation.ts";
import { readAll } from "../cluster/read-all.ts";
import { placed } from "../command/command-failure.ts";
import { answered } from "../command/exit-codes.ts";
import { UsageError } from "../flags/usage-error.ts";
import { hasColors, paintOf } from "../output/paint.ts";
import { printable } from "../output/printable.ts";
import { isForProgram } from "../output/program-text.ts";
import { listFlags } from "./list-flags.ts";
import { type ListedWorkload, listed, renderList } from "./list-output.ts";

/**
 * `wave list`: every workload that opted in, with where it stands. Ends as where the cluster could not be asked
 * after a line for each kind that could not be listed.
 */
export const list = clusterCommand({
  name: "list",
  flags: listFlags,
  help: async () => (await import("./list-help.ts")).listHelp(),
  read: (called) => {
    const { positionals, values, terminal } = called;
    const [surplus] = positionals;
    if (surplus !== undefined)
      throw new UsageError(`${quoted(surplus)} is not a flag; "wave explain" tells of one workload, -l picks some`);
    return async (cluster) => {
      const namespace = values["all-namespaces"] ? undefined : (values.namespace ?? cluster.namespace);
      const policy = await readRunningPolicy("list", cluster, called, namespace);
      const { asked, failures, gaps } = await readAll(cluster, namespace, values.selector, policy);
      const all = asked.map((each) => listed(explainWorkload(each)));
      const unseen = [...failures, ...gaps];
      const workloads = all.filter(({ state }) => values.state?.includes(state) ?? true).sort(inOrder);
      for (const line of unseen) terminal.writeError(`wave list: ${printable(placed(line, cluster))}\n`);
      if (workloads.length > 0 || isForProgram(values.output)) {
        const paint = paintOf(hasColors(terminal.env, terminal.outputToTerminal));
        const form = { output: values.output, allNamespaces: values["all-namespaces"], now: Date.now(), paint };
        terminal.write(await renderList(workloads, form));
      } else if (unseen.length === 0) {
        const where = namespace === undefined ? "" : ` in namespace "${namespace}"`;
        const matching = values.state === undefined && values.selector === undefined ? "" : " and matches";
        terminal.writeError(`No workload that opted in${matching} was found${where}.\n`);
      }
      return answered({ lookedAtAll: unseen.length === 0 && all.every(({ state }) => state !== "unknown") });
    };
  },
});

function inOrder(a: ListedWorkload, b: ListedWorkload): number {
  const [first, second] = [a, b].map(({ namespace, kind, name }) => [namespace, kind, name].join(" "));
  return (first ?? "") < (second ?? "") ? -1 : 1;
}
