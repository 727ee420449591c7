import type { ChangedWorkload, ChangeNow } from "../cluster/snapshot/changes-now.ts";
import { age } from "../output/age.ts";
import type { Paint, Style } from "../output/paint.ts";
import { printable } from "../output/printable.ts";
import type { ListRow } from "./list-output.ts";

/** How many workloads a branch names. */
const shownWorkloads = 5;

/** The branches of workloads that are not in a batch to come, in the order of the tree. */
const branches: readonly { readonly stage: ChangedWorkload["stage"]; readonly title: string; readonly style: Style }[] =
  [
    { stage: "failed", title: "failed", style: "red" },
    { stage: "stuck", title: "stuck", style: "yellow" },
    { stage: "unusable", title: "unusable", style: "yellow" },
    { stage: "passed", title: "complete", style: "green" },
    { stage: "soaking", title: "soaking", style: "cyan" },
    { stage: "progressing", title: "rolling", style: "cyan" },
  ];

/**
 * Returns a change as a tree with one branch for each batch: what failed, is complete, rolls now, and rolls next. `rows` show the Pods. `now` is in
 * milliseconds since the epoch.
 */
export function changeLines(
  { object, namespace, editedBy, editedAt, workloads }: ChangeNow,
  rows: readonly ListRow[],
  now: number,
  paint: Paint,
): readonly string[] {
  const edited =
    editedAt === undefined
      ? ""
      : `, edited${editedBy === undefined ? "" : ` by ${editedBy}`} ${age(now - editedAt)} ago`;
  const complete = workloads.filter(({ stage }) => stage === "passed").length;
  const name = `${object.kind.toLowerCase()}/${object.name} -n ${object.namespace}`;
  const head = `${name}: ${complete} of ${workloads.length} complete${edited}`;
  const podsOf = new Map(
    rows.filter((row) => row.namespace === namespace).map(({ kind, name, pods }) => [`${kind}/${name}`, pods]),
  );
  const started = branches.flatMap(({ stage, title, style }) => {
    const inStage = workloads.filter((each) => each.stage === stage);
    const until = Math.min(...inStage.map((each) => each.until ?? Number.POSITIVE_INFINITY));
    const left = stage === "soaking" && until > now && Number.isFinite(until) ? ` ${age(until - now)} left` : "";
    return inStage.length === 0 ? [] : [{ title: `${title}${left}`, style, members: inStage }];
  });
  const waiting = workloads.filter(({ stage }) => ["due", "heldElsewhere", "held"].includes(stage));
  const batches = [...Map.groupBy(waiting, ({ batch }) => batch)].toSorted(([a = Infinity], [b = Infinity]) => a - b);
  const next = batches.map(([batch, members]) => ({
    title: batch === undefined ? "held" : `batch ${batch}`,
    style: "dim" as const,
    members,
  }));
  const all = [...started, ...next];
  const width = Math.max(...all.map(({ title }) => title.length));
  return [
    paint("bold", printable(head)),
    ...all.map(({ title, style, members }, index) => {
      const names = members.slice(0, shownWorkloads).map(({ kind, name, stage }) => {
        const pods = stage === "passed" ? null : podsOf.get(`${kind}/${name}`);
        return `${kind.toLowerCase()}/${name}${pods ? ` ${pods.current}/${pods.total}` : ""}`;
      });
      const rest = members.length - names.length;
      const text = printable(`${names.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`);
      return `${index === all.length - 1 ? "└──" : "├──"} ${paint(style, title.padEnd(width))}  ${text}`;
    }),
  ];
}
