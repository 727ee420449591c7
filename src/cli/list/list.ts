// `wave list`. This folder renders lists; src/cli/cluster reads the workloads and explains them.
import { ApiError } from "../../kube/api/api-failure.ts";
import { readNamespace } from "../cluster/read/namespaces.ts";
import { meaningOfStates } from "../cluster/states/state-rows.ts";
import { type Cluster, clusterCommand } from "../command/cluster-command.ts";
import {
  argumentErrorTexts,
  CommandFailure,
  commandErrorTexts,
  exitCodeFor,
  exitCodes,
  outputLine,
} from "../command/command.ts";
import { UsageError } from "../flags/flag-types.ts";
import { answerText, isForProgram } from "../output/table.ts";
import { openFleet } from "./fleet.ts";
import { type ListRow, ListTable } from "./list-output.ts";
import { isWanted, type ListCall, listFlags, readList, tableFormOf } from "./read-list.ts";
import { watchCluster, watchFleet } from "./watch-clusters.ts";

/** Lists every workload that opted in, with its state. Writes one warning for each kind that cannot be listed. */
export const listCommand = clusterCommand({
  name: "list",
  flags: listFlags,
  help: {
    usage: "wave list [flags]",
    description: "List the workloads that opted in, with state, up-to-date Pods and reason.",
    examples: [
      ["wave list -A --state=failed,waiting,held", "needs attention"],
      ["wave list -n shop -w", "a live table, until Ctrl-C"],
      ["wave list -n shop -o wide", "reasons in words"],
      ["wave list -n shop -l app=web -o json", "workloads with a label, as JSON"],
      ["wave list -A --contexts=prod-eu,prod-us", "several clusters in one table"],
    ],
    usualFlags: ["namespace", "all-namespaces", "contexts", "watch", "state", "selector", "output"],
    details: [
      "The list shows what Wave would do now. It uses your permissions, writes nothing and works if Wave is down.",
      "The state of a workload is unknown if you lack permission to read something that it depends on. -o wide shows the reason. All other workloads are listed.",
    ],
    words: { heading: "States", meanings: meaningOfStates },
    exits: { [exitCodes.done]: "The list is complete.", [exitCodes.no]: "The namespace does not exist." },
  },
  surplus: argumentErrorTexts.surplusOfList,
  read: (call) => {
    const { contexts, watch, output } = call.values;
    if (watch && isForProgram(output)) throw new UsageError(argumentErrorTexts.watchForProgram(output));
    if (contexts === undefined) return (cluster) => (watch ? watchCluster(call, cluster) : listCluster(call, cluster));
    for (const flag of ["context", "server"])
      if (call.given.get(flag)?.source.startsWith("-")) throw new UsageError(argumentErrorTexts.contextOfFleet(flag));
    return { withoutCluster: () => (watch ? watchFleet(call, contexts) : listFleet(call, contexts)) };
  },
});

async function listCluster(call: ListCall, cluster: Cluster): Promise<number> {
  const { workloads, complete, namespace } = await readList(call, cluster);
  if (workloads.length === 0 && namespace !== undefined && (await isMissingNamespace(cluster, namespace)))
    throw new CommandFailure(commandErrorTexts.notFoundInCluster("namespace", namespace, cluster.source));
  await write(call, workloads, complete, namespace === undefined ? "" : ` in namespace ${namespace}`);
  return exitCodeOf(workloads, complete);
}

/** Reports whether a namespace does not exist; false if the API server refuses the read. */
async function isMissingNamespace({ client }: Cluster, name: string): Promise<boolean> {
  try {
    return (await readNamespace(client, name)).length === 0;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

async function listFleet(call: ListCall, contexts: readonly string[]): Promise<number> {
  await using fleet = await openFleet(call, contexts);
  const members = await fleet.read();
  const workloads = members.flatMap((each) => each.workloads);
  const complete = members.every(({ code }) => code === exitCodes.done);
  await write(call, workloads, complete, ` in the contexts ${contexts.join(", ")}`);
  const isMistake = members.some(({ code }) => code === exitCodes.usage);
  return isMistake ? exitCodes.usage : exitCodeOf(workloads, complete);
}

function exitCodeOf(workloads: readonly ListRow[], complete: boolean): number {
  return exitCodeFor({ complete: complete && workloads.every(({ state }) => state !== "unknown") });
}

/** Writes the wanted workloads, or a line that there are none. `where` follows "found" in that line. */
async function write(call: ListCall, workloads: readonly ListRow[], complete: boolean, where: string): Promise<void> {
  const { values, terminal } = call;
  const wanted = workloads.filter((each) => isWanted(values, each));
  if (wanted.length > 0 || isForProgram(values.output)) {
    const forPeople = () => new ListTable(tableFormOf(call)).lines(wanted, Date.now());
    terminal.write(await answerText(values.output, { version: 1, items: wanted }, forPeople));
  } else if (complete) {
    const isFiltered = values.state !== undefined || values.selector !== undefined;
    const line = isFiltered
      ? `No matching workloads found${where}.`
      : `No workloads found${where}. wave list shows only workloads that opted in.`;
    terminal.writeError(outputLine(line));
  }
}
