import type { Explanation } from "../cluster/explanation/explanation.ts";
import { heldChangeLines } from "../cluster/explanation/held-change.ts";
import { withKubernetesReason } from "../cluster/states/kubernetes-reason.ts";
import { workloadStates } from "../cluster/states/workload-states.ts";
import { age } from "../output/age.ts";
import type { Paint } from "../output/paint.ts";
import { isForProgram, type ProgramForm, programText } from "../output/program-text.ts";
import { sentences } from "../output/sentences.ts";
import { type PaintCell, tableLines } from "../output/table.ts";

/** One workload in `wave list -o json`; docs/commands.md promises its fields. */
export type ListedWorkload = ReturnType<typeof listedWorkload>;

/** Returns the fields of one workload in a list, each as in an {@link Explanation}. */
export function listedWorkload({
  workload,
  compatibility,
  state,
  because,
  message,
  kubernetes,
  since,
  hold,
  pods,
  pinning,
  rolledBack,
  heldChange,
  recordedHash,
  currentHash,
}: Explanation) {
  return {
    ...workload,
    compatibility,
    state,
    because,
    message,
    kubernetes,
    since,
    until: hold?.until ?? null,
    pods,
    pinning,
    rolledBack,
    heldChange,
    recordedHash,
    currentHash,
  };
}

export interface ListForm {
  readonly output: "table" | "wide" | ProgramForm;
  readonly allNamespaces: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly paint: Paint;
}

export async function renderList(workloads: readonly ListedWorkload[], form: ListForm): Promise<string> {
  if (isForProgram(form.output)) return programText({ version: 1, items: workloads }, form.output);
  return table(workloads, form);
}

function table(workloads: readonly ListedWorkload[], { output, allNamespaces, now, paint }: ListForm): string {
  const wide = output === "wide";
  const ago = (time: string | null) => (time === null ? "-" : age(now - Date.parse(time)));
  const heading = [
    ...(allNamespaces ? ["NAMESPACE"] : []),
    ...["NAME", "STATE", "UP-TO-DATE", "REASON", "SINCE"],
    ...(wide ? ["UNTIL", "HASH", "COMPATIBILITY", "MESSAGE"] : []),
  ];
  const rows = workloads.map((each) => [
    ...(allNamespaces ? [each.namespace] : []),
    `${each.kind.toLowerCase()}/${each.name}`,
    each.state,
    each.pods === null ? "-" : `${each.pods.current}/${each.pods.total}`,
    each.because ?? "-",
    ago(each.since),
    ...(wide
      ? [
          each.until ?? "-",
          shortHash(each.currentHash),
          each.compatibility.join(",") || "-",
          sentences(withKubernetesReason(each.message ?? "", each.kubernetes), ...heldChangeLines(each.heldChange)) ||
            "-",
        ]
      : []),
  ]);
  const stateColumn = heading.indexOf("STATE");
  const painted: PaintCell = (text, row, column) => {
    if (row === 0) return paint("bold", text);
    const state = column === stateColumn ? workloads[row - 1]?.state : undefined;
    return state === undefined ? text : paint(workloadStates[state].style, text);
  };
  return tableLines([heading, ...rows], 3, painted)
    .map((line) => `${line}\n`)
    .join("");
}

/** Returns the first 8 digits, which are enough for an approval. */
function shortHash(hash: string | null): string {
  return hash === null ? "-" : hash.slice(hash.indexOf(":") + 1).slice(0, 8);
}
