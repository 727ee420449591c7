import { printable } from "../../lib/printable.ts";
import { exitCodeFor, type Terminal, warningLine } from "../command/command.ts";
import { answerText, headedTable, joined, type Paint, paintFor } from "../output/table.ts";
import type { ClusterStates } from "./cluster-states.ts";
import { diffMarkdown } from "./diff-markdown.ts";
import { effectStyles, replacing } from "./planned-pair.ts";
import { type Difference, describeReason, describeSummary, differencesOf } from "./workload-difference.ts";

/** A comparison of manifests: the states, remarks about the manifests, and the time in milliseconds since the epoch. */
interface DiffResult {
  /** The value of `--output`. */
  readonly output: string;
  readonly states: ClusterStates;
  readonly notes: readonly string[];
  readonly now: number;
  /** Completes a warning, for example with the name of the cluster. */
  readonly describeGap?: (gap: string) => string;
}

/** Writes the differences and the failed reads. Returns the exit code. */
export async function renderDifferences(
  terminal: Terminal,
  { states, notes, now, output, describeGap = (gap) => gap }: DiffResult,
): Promise<number> {
  const workloads = differencesOf(states, now);
  for (const gap of states.gaps) terminal.writeError(warningLine(describeGap(gap)));
  const difference = { workloads, notes: [...states.unlisted, ...notes] };
  const forPeople = () =>
    output === "markdown" ? diffMarkdown(difference) : renderTable(difference, paintFor(terminal));
  terminal.write(await answerText(output, { version: 1, ...difference }, forPeople));
  const unseen = [...states.gaps, ...states.unlisted];
  return exitCodeFor({
    no: workloads.some(({ effect }) => replacing.has(effect)),
    complete: unseen.length === 0 && workloads.every(({ effect }) => effect !== "unknown"),
  });
}

function renderTable(difference: Difference, paint: Paint): string {
  const lines = difference.workloads.length === 0 ? [] : [...table(difference, paint), ""];
  return joined([...lines, describeSummary(difference), ...difference.notes.map((note) => `Note: ${printable(note)}`)]);
}

function table({ workloads }: Difference, paint: Paint): readonly string[] {
  const heading = ["NAMESPACE", "NAME", "EFFECT", "BATCH", "REASON"];
  const rows = workloads.map((each) => [
    each.namespace,
    `${each.kind.toLowerCase()}/${each.name}`,
    each.effect,
    each.batch === null ? "-" : String(each.batch),
    describeReason(each),
  ]);
  return headedTable(heading, rows, paint, (row, column) => {
    const effect = column === "EFFECT" ? workloads[row]?.effect : undefined;
    return effect && effectStyles[effect];
  });
}
