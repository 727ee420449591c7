import { describeObject } from "../../../domain/config/messages.ts";
import { parseWorkloadKey } from "../../../domain/model/workload.ts";
import type { BatchedChange } from "../../../domain/pacing/batches.ts";
import type { Stage } from "../../../domain/pacing/stage.ts";
import { formatList } from "../../../domain/syntax/wording.ts";

/** How many workloads a line names. */
const mostShown = 5;

/** The words for each stage of a workload with a change, in the order of the lines. */
const rows: readonly { readonly state: Stage["state"]; readonly text: string }[] = [
  { state: "failed", text: "failed in" },
  { state: "stuck", text: "is stuck in" },
  { state: "progressing", text: "is rolling out in" },
  { state: "soaking", text: "was just rolled out in" },
];

/**
 * Returns one line for each stage that workloads of the group are in, so that a person sees which workloads the others wait for:
 * `ConfigMap "page" failed in deployment/canary.`
 */
export function batchNotes({ object, namespace, members }: BatchedChange): readonly string[] {
  const described = describeObject(object, namespace);
  return rows.flatMap(({ state, text }) => {
    const names = members.filter(({ stage }) => stage.state === state).map(({ key }) => nameOf(key));
    return names.length === 0 ? [] : [`${described} ${text} ${formatList(names.sort(), mostShown, String)}.`];
  });
}

function nameOf(key: string): string {
  const { kind, name } = parseWorkloadKey(key);
  return `${kind.toLowerCase()}/${name}`;
}
