import type { ClusterConfig } from "../../kube/config/cluster-access.ts";
import { printable } from "../../lib/printable.ts";
import { mapBounded } from "../cluster/requests.ts";
import { type Cluster, loadCluster, openCluster } from "../command/cluster-command.ts";
import { type ExitCode, errorLine, exitCodes, type FailureReport, reportFailure } from "../command/command.ts";
import { chosenCluster } from "../flags/connection-flags.ts";
import type { ListRow } from "./list-output.ts";
import { type ListCall, readList } from "./read-list.ts";

/** One context of several, with a connection to its cluster, or why there is none. */
interface Member {
  readonly context: string;
  readonly target: { readonly cluster: Cluster } | { readonly failure: FailureReport };
}

interface MemberList {
  readonly context: string;
  readonly workloads: readonly ListRow[];
  readonly code: ExitCode;
  /** What was written to standard error meanwhile. */
  readonly lines: readonly string[];
}

interface Fleet extends AsyncDisposable {
  /**
   * Reads the workloads of all contexts at the same time. A context whose cluster cannot be read becomes one error line, and the others
   * are still read. Writes the lines of each context together, in the order of the contexts.
   */
  readonly read: () => Promise<readonly MemberList[]>;
}

/** Opens a connection for each context, without a request. */
export async function openFleet(call: ListCall, contexts: readonly string[]): Promise<Fleet> {
  const members = await Promise.all(contexts.map((context) => memberOf(call, context)));
  return {
    read: async () => {
      const lists = await mapBounded(members, (member) => readMember(call, member));
      for (const { lines } of lists) for (const line of lines) call.terminal.writeError(line);
      return lists;
    },
    [Symbol.asyncDispose]: async () => {
      const clusters = members.flatMap(({ target }) => ("cluster" in target ? [target.cluster] : []));
      await Promise.all(clusters.map(({ client }) => client.close()));
    },
  };
}

async function memberOf(call: ListCall, context: string): Promise<Member> {
  let config: ClusterConfig | undefined;
  try {
    config = await loadCluster(chosenCluster({ ...call.values, context }), call.terminal);
    return { context, target: { cluster: await openCluster("list", config, call.values) } };
  } catch (error) {
    return { context, target: { failure: failureOf(error, config) } };
  }
}

async function readMember(call: ListCall, { context, target }: Member): Promise<MemberList> {
  const lines: string[] = [];
  const fail = ({ line, code }: FailureReport) => {
    return { context, workloads: [], code, lines: [...lines, errorLine(line)] };
  };
  if ("failure" in target) return fail(target.failure);
  const named = (line: string) => line.replace(/^note: /, `note: context ${printable(context)}: `);
  const terminal = { ...call.terminal, writeError: (line: string) => void lines.push(named(line)) };
  try {
    const read = await readList({ ...call, terminal }, target.cluster);
    const workloads = read.workloads.map((each) => ({ cluster: context, ...each }));
    return { context, workloads, code: read.complete ? exitCodes.done : exitCodes.incomplete, lines };
  } catch (error) {
    return fail(failureOf(error, target.cluster));
  }
}

/** Returns how the command reports an error; throws the error if it is a bug. */
function failureOf(error: unknown, cluster: ClusterConfig | Cluster | undefined): FailureReport {
  const failure = reportFailure(error, cluster);
  if (failure === undefined) throw error;
  return failure;
}
