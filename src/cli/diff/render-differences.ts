import { printable } from "../../lib/printable.ts";
import { exitCodeFor, type Terminal, warningLine } from "../command/command.ts";
import {
  hasColors,
  isForProgram,
  type Paint,
  type PaintCell,
  type ProgramForm,
  paintOf,
  programText,
  tableLines,
} from "../output/table.ts";
import type { ClusterStates } from "./cluster-states.ts";
import { diffMarkdown } from "./diff-markdown.ts";
import { effectStyles, replacing } from "./planned-pair.ts";
import { type Difference, describeReason, describeSummary, differencesOf } from "./workload-difference.ts";

/** How a difference is printed. */
export type DiffRequest = Pick<DiffForm, "output">;

/** A comparison of manifests: the states, remarks about the manifests, and the time in milliseconds since the epoch. */
interface DiffResult extends DiffRequest {
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
  const paint = paintOf(hasColors(terminal.env, terminal.outputToTerminal));
  terminal.write(await renderDiff({ workloads, notes: [...states.unlisted, ...notes] }, { output, paint }));
  const unseen = [...states.gaps, ...states.unlisted];
  return exitCodeFor({
    no: workloads.some(({ effect }) => replacing.has(effect)),
    complete: unseen.length === 0 && workloads.every(({ effect }) => effect !== "unknown"),
  });
}

/** The output format of a difference. Only the table uses `paint`. */
interface DiffForm {
  readonly output: "table" | "markdown" | ProgramForm;
  readonly paint: Paint;
}

/** Renders a difference for people, for a pull request, or for a program. */
async function renderDiff(difference: Difference, { output, paint }: DiffForm): Promise<string> {
  if (isForProgram(output)) return programText({ version: 1, ...difference }, output);
  if (output === "markdown") return diffMarkdown(difference);
  const lines = difference.workloads.length === 0 ? [] : [...table(difference, paint), ""];
  return [...lines, describeSummary(difference), ...difference.notes.map((note) => `Note: ${printable(note)}`)]
    .map((line) => `${line}\n`)
    .join("");
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
  const painted: PaintCell = (text, row, column) => {
    if (row === 0) return paint("bold", text);
    const effect = column === heading.indexOf("EFFECT") ? workloads[row - 1]?.effect : undefined;
    return effect === undefined ? text : paint(effectStyles[effect], text);
  };
  return tableLines([heading, ...rows], 3, painted);
}
