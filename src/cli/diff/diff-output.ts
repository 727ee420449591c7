import type { Paint } from "../output/paint.ts";
import { printable } from "../output/printable.ts";
import { isForProgram, type ProgramForm, programText } from "../output/program-text.ts";
import { type PaintCell, tableLines } from "../output/table.ts";
import { type Difference, describeReason, describeSummary } from "./describe-difference.ts";
import { effectStyles } from "./diff-effects.ts";
import { diffMarkdown } from "./diff-markdown.ts";

/** The output format of a difference. Only the table uses `paint`. */
export interface DiffForm {
  readonly output: "table" | "markdown" | ProgramForm;
  readonly paint: Paint;
}

/** Renders a difference for people, for a pull request, or for a program. */
export async function renderDiff(difference: Difference, { output, paint }: DiffForm): Promise<string> {
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
