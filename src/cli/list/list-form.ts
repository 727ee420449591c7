import type { Terminal } from "../command/command.ts";
import { hasColors, type Paint, paintOf } from "../output/paint.ts";
import type { ListedWorkload, ListForm } from "./list-output.ts";
import type { ListCall } from "./read-list.ts";

/** Returns whether a list shows a workload in its state. */
export function isWanted(values: ListCall["values"], { state }: Pick<ListedWorkload, "state">): boolean {
  return values.state?.includes(state) ?? true;
}

/** Returns the columns of the table: with several clusters, a namespace may differ from cluster to cluster. */
export function columnsOf(values: ListCall["values"]): Pick<ListForm, "clusters" | "namespaces"> {
  const clusters = values.contexts !== undefined;
  return { clusters, namespaces: values["all-namespaces"] || (clusters && values.namespace === undefined) };
}

/** Returns the colors of a list: only on a terminal. */
export function paintFor({ env, outputToTerminal }: Terminal): Paint {
  return paintOf(hasColors(env, outputToTerminal));
}
