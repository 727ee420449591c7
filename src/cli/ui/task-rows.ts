import { configKey } from "../../domain/references/references.ts";
import { waveArguments } from "../../domain/syntax/names.ts";
import type { EditLog } from "./edit-log.ts";
import type { Task } from "./model.ts";
import { changedObjects, type ExplainedWorkload, objectName, personalHolds, type RowContext } from "./workload-rows.ts";

/** Returns what only people can do in a namespace: approvals and holds. Also the windows that open later. */
export function taskRows(
  workloads: readonly ExplainedWorkload[],
  edits: EditLog,
  context: RowContext,
): readonly Task[] {
  const tasks = new Map<string, Task>();
  const add = (task: NewTask, command: string) => {
    const id = [context.cluster, task.namespace, task.type, task.about].join("/");
    const changes = new Map([...(tasks.get(id)?.changes ?? []), ...task.changes].map((each) => [each.object, each]));
    tasks.set(id, {
      ...{ id, cluster: context.cluster, by: null, reason: null, until: null, ...task },
      changes: [...changes.values()],
      command: `wave ${command}${context.contextFlag}`,
    });
  };
  for (const each of workloads) {
    const { workload, hold } = each.explanation;
    const { namespace } = workload;
    const changes = hold === null ? [] : changesBehind(each, edits);
    const own = { namespace, about: objectName(workload, namespace), changes };
    if (hold?.reason === "approval") add({ ...own, type: "approval" }, `approve ${waveArguments(workload)}`);
    if (hold?.reason === "window") {
      const until = hold.until === null ? null : Date.parse(hold.until);
      add({ ...own, type: "window", until }, `roll ${waveArguments(workload)}`);
    }
    for (const { about, target, text, ofObject } of personalHolds(each)) {
      const held = ofObject ? changes.filter(({ object }) => object === about) : changes;
      add({ namespace, about, type: "hold", ...signatureOf(text), changes: held }, `release ${target}`);
    }
  }
  return [...tasks.values()];
}

type NewTask = Pick<Task, "namespace" | "about" | "type" | "changes"> & Partial<Pick<Task, "by" | "reason" | "until">>;

/** Returns the changes that a held workload would be rolled for. */
function changesBehind(each: ExplainedWorkload, edits: EditLog): Task["changes"] {
  const { found, read } = each.snapshot;
  return changedObjects(each).map((object) => {
    const key = configKey(object);
    const config = read.get(key);
    return {
      object: objectName(object, found.workload.namespace),
      keys: edits.keysOf(key, config),
      editor: (config?.state === "present" && config.editedBy) || null,
    };
  });
}

/** Returns the parts of a text that `wave hold` has written: the reason, and the name of the person in parentheses. */
function signatureOf(text: string | undefined): Pick<Task, "by" | "reason"> {
  const [, reason = text, by = null] = /^(.*?)\s*\(([^()]+)\)$/s.exec(text ?? "") ?? [];
  return { by, reason: reason || null };
}
