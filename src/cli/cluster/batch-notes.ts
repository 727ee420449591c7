import { describeObject } from "../../domain/config/messages.ts";
import { parseWorkloadKey } from "../../domain/model/workload.ts";
import type { BatchedChange } from "../../domain/pacing/batches.ts";
import type { Stage } from "../../domain/pacing/stage.ts";
import { enumerated } from "../../domain/syntax/wording.ts";

/** How many of them a line names. */
const shown = 5;

/** Where others are with a change, as a line says it, in the order of the lines. */
const rows: readonly { readonly state: Stage["state"]; readonly says: string }[] = [
  { state: "failed", says: "failed in" },
  { state: "underWay", says: "is being rolled out in" },
  { state: "soaking", says: "has just been rolled out in" },
];

/**
 * The workloads that others wait for with a change of one object, a line for each stage that they are at: `ConfigMap
 * "page" failed in deployment/canary`.
 */
export function batchNotes({ object, namespace, members }: BatchedChange): readonly string[] {
  const described = describeObject(object, namespace);
  return rows.flatMap(({ state, says }) => {
    const names = members.filter(({ stage }) => stage.state === state).map(({ key }) => nameOf(key));
    return names.length === 0 ? [] : [`${described} ${says} ${enumerated(names.sort(), shown, String)}`];
  });
}

function nameOf(key: string): string {
  const { kind, name } = parseWorkloadKey(key);
  return `${kind.toLowerCase()}/${name}`;
}
