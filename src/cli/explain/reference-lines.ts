import type { ExplainedReference } from "../cluster/explanation/explained-outcome.ts";
import type { Explanation } from "../cluster/explanation/explanation.ts";
import { sentences } from "../output/sentences.ts";
import { tableLines } from "../output/table.ts";

/** The number of keys in one cell of the table. JSON has all keys. */
const shownKeys = 4;

/** Returns the references of a workload as a table, or why there is no table. The lines are not wrapped. */
export function referenceLines({ workload, outcome, references, limitExceeded }: Explanation): readonly string[] {
  if (limitExceeded !== null && outcome === "overLimit") return ["References are not listed: too many."];
  if (limitExceeded !== null) return [sentences("References are not listed: too many", limitExceeded)];
  return references.length === 0 ? ["References: no ConfigMap or Secret."] : table(references, workload.namespace);
}

function table(references: readonly ExplainedReference[], namespace: string): readonly string[] {
  // The column is only needed if annotations of other controllers lead to an object.
  const hasOthers = references.some(({ trackedBy }) => trackedBy.some(({ compatibility }) => compatibility !== "wave"));
  const rows = references.map((reference) => [
    `${reference.kind} ${reference.namespace === namespace ? "" : `${reference.namespace}/`}${reference.name}`,
    stateOf(reference),
    keysOf(reference),
    reference.reads,
    reference.optional ? "optional" : "required",
    ...(hasOthers ? [sourcesOf(reference)] : []),
    reference.path,
  ]);
  return tableLines(
    [["OBJECT", "STATE", "KEYS", "READ AS", "NEEDED", ...(hasOthers ? ["TRACKED BY"] : []), "FIELD"], ...rows],
    2,
  );
}

function sourcesOf({ trackedBy }: ExplainedReference): string {
  return trackedBy.map(({ compatibility, by }) => `${compatibility} (${by})`).join(", ") || "-";
}

function stateOf({ state, absentKeys }: ExplainedReference): string {
  return absentKeys.length === 0 ? state : `lacks ${keyList(absentKeys)}`;
}

function keysOf({ keys, reads }: ExplainedReference): string {
  if (keys === "all") return "all";
  return reads === "existence" && keys.length === 0 ? "-" : keyList(keys);
}

/** Returns the first keys of a list, and how many are left. */
export function keyList(keys: readonly string[]): string {
  const rest = keys.length - shownKeys;
  return rest > 0 ? `${keys.slice(0, shownKeys).join(",")} +${rest}` : keys.join(",");
}
