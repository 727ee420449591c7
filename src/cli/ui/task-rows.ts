import { rulesFor } from "../../domain/policy/rules.ts";
import { configKey } from "../../domain/references/references.ts";
import { waveArguments } from "../../domain/syntax/names.ts";
import type { EditLog } from "./edit-log.ts";
import type { Task } from "./model.ts";
import { changedObjects, type ExplainedWorkload, objectName, type RowContext } from "./workload-rows.ts";

/** Returns what only people can do in a namespace: approvals and holds. Also the windows that open later. */
export function taskRows(
  workloads: readonly ExplainedWorkload[],
  edits: EditLog,
  context: RowContext,
): readonly Task[] {
  const tasks = new Map<string, Task>();
  const add = (task: Omit<Task, "id" | "cluster">) => {
    const id = [context.cluster, task.namespace, task.type, task.about].join("/");
    const known = tasks.get(id);
    const changes = new Map([...(known?.changes ?? []), ...task.changes].map((each) => [each.object, each]));
    tasks.set(id, { id, cluster: context.cluster, ...task, changes: [...changes.values()] });
  };
  for (const each of workloads) {
    const { explanation, snapshot } = each;
    const { workload } = snapshot.found;
    const { namespace, kind, name } = workload;
    const about = `${kind.toLowerCase()}/${name}`;
    const { hold } = explanation;
    const changes = hold === null ? [] : changesBehind(each, edits);
    const unsigned = { by: null, reason: null, until: null };
    const command = (verb: string, target: string) => `wave ${verb} ${target}${context.contextFlag}`;
    if (hold?.reason === "approval") {
      const approve = command("approve", waveArguments(workload));
      add({ namespace, about, type: "approval", ...unsigned, changes, command: approve });
    }
    if (hold?.reason === "window") {
      const until = hold.until === null ? null : Date.parse(hold.until);
      const roll = command("roll", waveArguments(workload));
      add({ namespace, about, type: "window", ...unsigned, until, changes, command: roll });
    }
    const rules = rulesFor(workload, snapshot.policy);
    if (rules.hold.value && rules.hold.by !== "flag") {
      const { by } = rules.hold;
      const signed = signatureOf(rules.holdReason.by === by ? rules.holdReason.value : undefined);
      const target = by === "namespace" ? `namespace/${namespace}` : waveArguments(workload);
      const held = by === "namespace" ? target : about;
      add({
        namespace,
        about: held,
        type: "hold",
        ...unsigned,
        ...signed,
        changes,
        command: command("release", target),
      });
    }
    for (const object of workload.references) {
      const found = snapshot.read.get(configKey(object));
      if (found?.state !== "present" || found.config.directive !== "hold") continue;
      const own = changes.filter((change) => change.object === objectName(object, namespace));
      add({
        namespace,
        about: objectName(object, namespace),
        type: "hold",
        ...unsigned,
        ...signatureOf(found.config.holdReason),
        changes: own,
        command: command("release", waveArguments(object)),
      });
    }
  }
  return [...tasks.values()];
}

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
