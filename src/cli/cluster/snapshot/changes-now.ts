import { parseWorkloadKey, type Workload } from "../../../domain/model/workload-shape.ts";
import { parseCause } from "../../../domain/pacing/cause.ts";
import type { Stage } from "../../../domain/pacing/stage.ts";
import { type ConfigName, configKey, parseConfigKey } from "../../../domain/references/references.ts";
import { editedAt, presentOf } from "../read/configs.ts";
import type { BatchesNow } from "./batches-now.ts";
import { batchNumbers, type WorkloadSnapshot } from "./workload-snapshot.ts";

/** A change of one object that the workloads of a namespace roll for now. Times are milliseconds since the epoch. */
export interface ChangeNow {
  readonly object: ConfigName;
  readonly namespace: string;
  /** The field manager that edited the object last; undefined if unknown. */
  readonly editedBy: string | undefined;
  readonly editedAt: number | undefined;
  readonly workloads: readonly ChangedWorkload[];
}

/** A workload that a change concerns. */
export interface ChangedWorkload {
  readonly kind: string;
  readonly name: string;
  readonly stage: Stage["state"];
  /** When its soak time or its deadline ends; undefined if it has none. */
  readonly until: number | undefined;
  /** The number of its batch among those that are left, from 1; undefined if it rolls or has rolled, or if the change is halted. */
  readonly batch: number | undefined;
}

/** How many changes are derived: a hostile tenant may edit a thousand objects. */
const mostChanges = 10;

/** A workload whose state is known. `held`: the object whose batch holds it; undefined if no batch does. */
export interface KnownWorkload {
  readonly snapshot: WorkloadSnapshot;
  readonly held: ConfigName | undefined;
}

/** Returns the changes that workloads roll or wait for now, the last edit first. */
export function changesNow(workloads: readonly KnownWorkload[], { groupOf }: BatchesNow): readonly ChangeNow[] {
  const found = new Map<
    string,
    { readonly namespace: string; readonly config: string; readonly snapshot: WorkloadSnapshot }
  >();
  for (const { snapshot, held } of workloads) {
    const { workload } = snapshot.found;
    for (const object of [...rolledFor(workload), ...(held === undefined ? [] : [held])]) {
      const { namespace } = workload;
      found.set(`${namespace} ${configKey(object)}`, { namespace, config: configKey(object), snapshot });
    }
  }
  const changes = [...found.values()].map(({ namespace, config, snapshot }) => {
    const read = snapshot.read.get(config);
    const seconds = editedAt(read);
    return { namespace, config, snapshot, editedBy: presentOf(read)?.editedBy, editedAt: seconds && seconds * 1000 };
  });
  return changes
    .toSorted((a, b) => (b.editedAt ?? 0) - (a.editedAt ?? 0))
    .slice(0, mostChanges)
    .map(({ namespace, config, snapshot, editedBy, editedAt }) => {
      const group = groupOf(parseConfigKey(config), namespace);
      const numbers = batchNumbers(group, snapshot.policy.pacing);
      const workloads = group.members.map(({ key, stage }): ChangedWorkload => {
        const { kind, name } = parseWorkloadKey(key);
        const until = "until" in stage && Number.isFinite(stage.until) ? stage.until : undefined;
        return { kind, name, stage: stage.state, until, batch: numbers.get(key) };
      });
      return { object: group.object, namespace, editedBy, editedAt, workloads };
    })
    .filter(({ workloads }) => workloads.some(({ stage }) => stage !== "passed"));
}

/** Returns the objects for whose changes a workload rolls now. */
function rolledFor({ recordedHash, cause, progress }: Workload): readonly ConfigName[] {
  if (progress.state === "complete" || progress.state === "idle") return [];
  return parseCause(recordedHash, cause)?.edits ?? [];
}
