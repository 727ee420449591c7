import type { OtherController } from "../cluster/other-controllers.ts";
import { printable } from "../output/printable.ts";
import { isForProgram, type ProgramForm, programText } from "../output/program-text.ts";
import { tableLines } from "../output/table.ts";
import type { WorkloadMigration } from "./workload-migration.ts";

/** What `wave migrate -o json` prints. */
export interface Migration {
  readonly workloads: readonly WorkloadMigration[];
  /** Who else rolls workloads in this cluster; null where that could not be read. */
  readonly controllers: readonly OtherController[] | null;
}

/** For a person, or for a program. */
export async function renderMigration(migration: Migration, output: "table" | ProgramForm): Promise<string> {
  const versioned = { version: 1, ...migration };
  if (isForProgram(output)) return programText(versioned, output);
  return [...table(migration), ...summary(migration)].map((line) => `${line}\n`).join("");
}

function table({ workloads }: Migration): readonly string[] {
  if (workloads.length === 0) return ["No workload that asks for rolls was found."];
  const heading = ["NAMESPACE", "NAME", "ASKS AS", "EFFECT", "WHY"];
  const rows = workloads.map(({ namespace, kind, name, compatibility, effect, reason }) => [
    namespace,
    `${kind.toLowerCase()}/${name}`,
    compatibility.join(",") || "-",
    effect,
    reason,
  ]);
  return tableLines([heading, ...rows], 3);
}

function summary({ workloads, controllers }: Migration): readonly string[] {
  const rolls = workloads.filter(({ effect }) => effect === "roll").length;
  const unknown = workloads.filter(({ effect }) => effect === "unknown").length;
  const leftovers = workloads.filter((each) => each.leftovers.length > 0).length;
  return [
    "",
    `${rolls} of ${workloads.length} would roll${unknown === 0 ? "" : `; ${unknown} could not be told`}.`,
    ...(leftovers === 0
      ? []
      : [`${leftovers} have a finalizer of an old Wave, which has to be removed: Wave does it with --migrate-legacy.`]),
    ...(controllers ?? []).map(({ controller, namespace, name, replicas }) =>
      printable(
        `${controller} runs as deployment/${name} in ${namespace} with ${replicas === 1 ? "1 replica" : `${replicas} replicas`}: scale it to 0 before Wave understands its annotations.`,
      ),
    ),
  ];
}
