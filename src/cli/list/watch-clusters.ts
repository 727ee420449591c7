import { systemClock } from "../../lib/clock.ts";
import { mayRecover } from "../cluster/requests.ts";
import type { Cluster } from "../command/cluster-command.ts";
import { exitCodes, reportFailure, type Terminal, warningLine } from "../command/command.ts";
import { liveLines } from "../output/live-lines.ts";
import { openFleet } from "./fleet.ts";
import { type ListRow, ListTable } from "./list-output.ts";
import { liveList, type Reading, watchList } from "./live-list.ts";
import { isWanted, type ListCall, readList, tableFormOf } from "./read-list.ts";

/** Watches the workloads of one cluster. Rejects if the first reading fails, or if a later one fails for another reason than an outage. */
export async function watchCluster(call: ListCall, cluster: Cluster): Promise<never> {
  const lines = new NewLines(call.terminal);
  const quiet = { ...call, terminal: lines.terminal };
  let isFirst = true;
  const read = async (): Promise<Reading | undefined> => {
    lines.begin();
    try {
      const { workloads, changes, complete } = await readList(quiet, cluster);
      return { rows: workloads, changes, isWhole: () => complete };
    } catch (error) {
      const failure = reportFailure(error, cluster);
      if (isFirst || failure === undefined || !mayRecover(error)) throw error;
      quiet.terminal.writeError(warningLine(failure.line));
      return undefined;
    } finally {
      isFirst = false;
    }
  };
  return watch(call, read, lines);
}

/** Watches the workloads of several clusters. A cluster that cannot be read keeps its rows, and is read again. */
export async function watchFleet(call: ListCall, contexts: readonly string[]): Promise<never> {
  const lines = new NewLines(call.terminal);
  await using fleet = await openFleet({ ...call, terminal: lines.terminal }, contexts);
  const read = async (): Promise<Reading> => {
    lines.begin();
    const members = await fleet.read();
    const whole = new Set(members.filter(({ code }) => code === exitCodes.done).map(({ context }) => context));
    return {
      rows: members.flatMap(({ workloads }) => workloads),
      changes: [],
      isWhole: (cluster) => cluster !== undefined && whole.has(cluster),
    };
  };
  return await watch(call, read, lines);
}

/** Draws one live table on a terminal. Otherwise prints a line for each change. */
function watch(call: ListCall, read: () => Promise<Reading | undefined>, lines: NewLines): Promise<never> {
  const form = tableFormOf(call);
  const { live, write } = call.terminal;
  const shared = { read, isWanted: (row: ListRow) => isWanted(call.values, row), clock: systemClock };
  if (live === undefined) return watchList({ ...shared, table: new ListTable(form), write });
  const height = () => live.size().rows - 1;
  return liveList({ ...shared, form, draw: liveLines(live), height, warnings: () => lines.current() });
}

/** Lines for standard error, each written once for as long as every reading has it. */
class NewLines {
  readonly terminal: Terminal;
  readonly #isLive: boolean;
  #before: ReadonlySet<string> = new Set();
  #now = new Set<string>();

  constructor(terminal: Terminal) {
    this.#isLive = terminal.live !== undefined && terminal.errorsToTerminal;
    const writeError = (line: string) => {
      if (!this.#isLive && !this.#before.has(line) && !this.#now.has(line)) terminal.writeError(line);
      this.#now.add(line);
    };
    this.terminal = { ...terminal, writeError };
  }

  /** Returns the lines of the current reading, without their line feeds. */
  current(): readonly string[] {
    return this.#isLive ? [...this.#now].map((line) => line.trimEnd()) : [];
  }

  begin(): void {
    this.#before = this.#now;
    this.#now = new Set();
  }
}
