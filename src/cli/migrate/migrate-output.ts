import type { OtherController } from "../cluster/running-wave/other-controllers.ts";
import { printable } from "../output/printable.ts";
import { isForProgram, type ProgramForm, programText } from "../output/program-text.ts";
import { tableLines } from "../output/table.ts";
import type { WorkloadMigration } from "./workload-migration.ts";

/** The output of `wave migrate -o json`. */
export interface Migration {
  readonly workloads: readonly WorkloadMigration[];
  /** Other controllers that roll workloads in this cluster, Wave in Go included; null if Deployments could not be listed. */
  readonly controllers: readonly OtherController[] | null;
}

/** Renders a migration as a table with a summary for people, or as JSON or YAML with `version` for programs. */
export async function renderMigration(migration: Migration, output: "table" | ProgramForm): Promise<string> {
  const versioned = { version: 1, ...migration };
  if (isForProgram(output)) return programText(versioned, output);
  return [...table(migration), ...summary(migration)].map((line) => `${line}\n`).join("");
}

function table({ workloads }: Migration): readonly string[] {
  if (workloads.length === 0) return ["No workload found with an annotation of Wave or of another controller."];
  const heading = ["NAMESPACE", "NAME", "EFFECT", "COMPATIBILITY", "REASON"];
  const rows = workloads.map(({ namespace, kind, name, compatibility, effect, reason }) => [
    namespace,
    `${kind.toLowerCase()}/${name}`,
    effect,
    compatibility.join(",") || "-",
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
    `${rolls} of ${workloads.length} ${workloads.length === 1 ? "workload" : "workloads"} would roll.${unknown === 0 ? "" : ` The effect on ${unknown} is unknown.`}`,
    ...(leftovers === 0
      ? []
      : [
          `${leftovers} ${leftovers === 1 ? "has" : "have"} a finalizer of an old Wave. Run Wave once with --migrate-legacy to remove it.`,
        ]),
    ...(controllers ?? []).map(({ controller, namespace, name, replicas }) =>
      printable(
        `${controller} runs as deployment/${name} in ${namespace} (${replicas === 1 ? "1 replica" : `${replicas} replicas`}). Scale it to 0 before Wave takes over.`,
      ),
    ),
  ];
}
