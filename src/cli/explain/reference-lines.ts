import type { ExplainedReference } from "../cluster/explained-reference.ts";
import type { Explanation } from "../cluster/explanation.ts";
import { tableLines } from "../output/table.ts";

/** How many keys a cell of the table names; JSON has all. */
const shownKeys = 4;

/** What a workload refers to as a table, or why there is none: lines as long as they are. */
export function referenceLines({ workload, outcome, references, tooLarge }: Explanation): readonly string[] {
  if (tooLarge !== null && outcome === "overLimit") return ["It is too large to be listed."];
  if (tooLarge !== null) return [`It is too large to be listed: ${tooLarge}.`];
  return references.length === 0 ? ["It refers to no ConfigMap or Secret."] : table(references, workload.namespace);
}

function table(references: readonly ExplainedReference[], namespace: string): readonly string[] {
  // Where nobody else is understood it is Wave's, and needs no words.
  const others = references.some(({ askedBy }) => askedBy.some(({ compatibility }) => compatibility !== "wave"));
  const rows = references.map((reference) => [
    `${reference.kind} ${reference.namespace === namespace ? "" : `${reference.namespace}/`}${reference.name}`,
    stateOf(reference),
    keysOf(reference),
    reference.reads === "existence" ? "-" : reference.reads,
    reference.optional ? "optional" : "required",
    ...(others ? [askersIn(reference)] : []),
    reference.path,
  ]);
  return tableLines(
    [["READS", "STATE", "KEYS", "AS", "NEEDED", ...(others ? ["ASKED BY"] : []), "THROUGH"], ...rows],
    2,
  );
}

function askersIn({ askedBy }: ExplainedReference): string {
  return askedBy.map(({ compatibility, by }) => `${compatibility} (${by})`).join(", ") || "-";
}

function stateOf({ state, absentKeys }: ExplainedReference): string {
  return absentKeys.length === 0 ? state : `lacks ${listed(absentKeys)}`;
}

function keysOf({ keys, reads }: ExplainedReference): string {
  if (keys === "all") return "all";
  return reads === "existence" && keys.length === 0 ? "(the object)" : listed(keys);
}

function listed(keys: readonly string[]): string {
  const rest = keys.length - shownKeys;
  return rest > 0 ? `${keys.slice(0, shownKeys).join(",")} +${rest}` : keys.join(",");
}
