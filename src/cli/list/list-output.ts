import type { Explanation } from "../cluster/explanation/explanation.ts";
import { heldChangeLines } from "../cluster/explanation/workload-notes.ts";
import { byWave } from "../cluster/snapshot/leader-view.ts";
import { withKubernetesReason, workloadStates } from "../cluster/states/state-rows.ts";
import { age, remaining, sentences } from "../output/sentences.ts";
import { columnWidths, joined, type Paint, type PaintCell, tableLines } from "../output/table.ts";

/** One workload in `wave list -o json`; docs/commands.md promises its fields. */
export type ListedWorkload = ReturnType<typeof listedWorkload>;

/** Returns the fields of one workload in a list, each as in an {@link Explanation}. */
export function listedWorkload(explanation: Explanation) {
  return {
    ...explanation.workload,
    compatibility: explanation.compatibility,
    state: explanation.state,
    because: explanation.because,
    message: explanation.message,
    kubernetes: explanation.kubernetes,
    since: explanation.since,
    until: explanation.hold?.until ?? null,
    pods: explanation.pods,
    pinning: explanation.pinning,
    rolledBack: explanation.rolledBack,
    heldChange: explanation.heldChange,
    recordedHash: explanation.recordedHash,
    recordedConfig: explanation.recordedConfig,
    currentHash: explanation.currentHash,
    judgedAt: explanation.judgedAt,
  };
}

/** A workload as a list shows it. */
export type ListRow = ListedWorkload & {
  /** Its context, if the list has several. */
  readonly cluster?: string;
  /** Whether the workload was deleted or opted out while the list was watched. */
  readonly removed?: true;
};

/** The form of a {@link ListTable}. */
export interface TableForm {
  /** Whether the table has a column CLUSTER. */
  readonly clusters: boolean;
  /** Whether the table has a column NAMESPACE. */
  readonly namespaces: boolean;
  readonly wide: boolean;
  readonly paint: Paint;
}

/** A table that may get more rows later. The first rows get the heading. Columns keep their width, and become wider for a wider cell. */
export class ListTable {
  readonly #form: TableForm;
  #widths: readonly number[] | undefined;

  constructor(form: TableForm) {
    this.#form = form;
  }

  /** Returns rows as lines, each with a line feed. `now` is in milliseconds since the epoch. */
  lines(workloads: readonly ListRow[], now: number): string {
    const heading = headingOf(this.#form);
    const withHeading = this.#widths === undefined;
    const rows = workloads.map((each) => cellsOf(each, this.#form, now));
    const cells = withHeading ? [heading, ...rows] : rows;
    this.#widths = columnWidths(cells, this.#widths);
    const { paint } = this.#form;
    const stateColumn = heading.indexOf("STATE");
    const painted: PaintCell = (text, row, column) => {
      if (withHeading && row === 0) return paint("bold", text);
      const workload = column === stateColumn ? workloads[withHeading ? row - 1 : row] : undefined;
      return workload === undefined || workload.removed ? text : paint(workloadStates[workload.state].style, text);
    };
    return joined(tableLines(cells, 3, painted, this.#widths));
  }
}

function headingOf({ clusters, namespaces, wide }: TableForm): readonly string[] {
  return [
    ...(clusters ? ["CLUSTER"] : []),
    ...(namespaces ? ["NAMESPACE"] : []),
    ...["NAME", "STATE", "UP-TO-DATE", "READY", "REASON", "SINCE"],
    ...(wide ? ["UNTIL", "HASH", "COMPATIBILITY", "MESSAGE"] : []),
  ];
}

function cellsOf(each: ListRow, { clusters, namespaces, wide }: TableForm, now: number): readonly string[] {
  const name = [
    ...(clusters ? [each.cluster ?? "-"] : []),
    ...(namespaces ? [each.namespace] : []),
    `${each.kind.toLowerCase()}/${each.name}`,
  ];
  if (each.removed) return [...name, "removed", ...Array<string>(wide ? 8 : 4).fill("-")];
  return [
    ...name,
    each.state,
    each.pods === null ? "-" : `${each.pods.current}/${each.pods.total}`,
    each.pods === null ? "-" : `${each.pods.ready}/${each.pods.total}`,
    reasonOf(each, now),
    each.since === null ? "-" : age(now - Date.parse(each.since)),
    ...(wide
      ? [
          each.until === null ? "-" : `in ${remaining(each.until, now)}`,
          shortHash(each.currentHash),
          each.compatibility.join(",") || "-",
          sentences(withKubernetesReason(each.message ?? "", each.kubernetes), ...heldChangeLines(each.heldChange)) ||
            "-",
        ]
      : []),
  ];
}

/** Returns the cause of the state, whose verdict it is, and that Pods read live configuration although their template names copies. */
function reasonOf({ because, pinning, judgedAt }: ListRow, now: number): string {
  const words = [because ?? [], pinning !== null && pinning.unpinned > 0 ? "unpinned" : []].flat();
  const reasons = [...new Set(words)].join(",");
  if (judgedAt === null) return reasons || "-";
  return reasons === "" ? byWave(judgedAt, now) : `${reasons} (${byWave(judgedAt, now)})`;
}

/** Returns the first 8 digits, which are enough for an approval. */
function shortHash(hash: string | null): string {
  return hash === null ? "-" : hash.slice(hash.indexOf(":") + 1).slice(0, 8);
}
