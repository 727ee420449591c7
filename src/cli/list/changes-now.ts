import type { Workload } from "../../domain/model/workload-shape.ts";
import type { BatchedChange } from "../../domain/pacing/batches.ts";
import { parseCause } from "../../domain/pacing/cause.ts";
import { type ConfigName, configKey } from "../../domain/references/references.ts";
import type { Explanation } from "../cluster/explanation/explanation.ts";
import { editedAt, presentOf } from "../cluster/read/configs.ts";
import type { BatchesNow } from "../cluster/snapshot/batches-now.ts";
import { batchNumbers, type WorkloadSnapshot } from "../cluster/snapshot/workload-snapshot.ts";

/** A change of one object that the workloads of a namespace roll for now. */
export interface ChangeNow extends BatchedChange {
  /** The field manager that edited the object last; undefined if unknown. */
  readonly editedBy: string | undefined;
  /** Milliseconds since the epoch; undefined if unknown. */
  readonly editedAt: number | undefined;
  /** The numbers of the batches that are left, by `workloadKey`; none for a workload that rolls or has rolled, or if the change is halted. */
  readonly batches: ReadonlyMap<string, number>;
}

/** How many changes are derived: a hostile tenant may edit a thousand objects. */
const mostChanges = 10;

/** Returns the changes that workloads roll or wait for now, the last edit first. */
export function changesNow(
  workloads: readonly { readonly snapshot: WorkloadSnapshot; readonly explanation: Explanation }[],
  { groupOf }: BatchesNow,
): readonly ChangeNow[] {
  const found = workloads.flatMap(({ snapshot, explanation: { hold } }) => {
    const { workload } = snapshot.found;
    const { namespace } = workload;
    const objects = [...rolledFor(workload), ...(hold?.object ? [hold.object] : [])];
    return objects.map((object) => ({
      object,
      namespace,
      read: snapshot.read.get(configKey(object)),
      flags: snapshot.policy.pacing,
    }));
  });
  const changes = new Map(found.map((each) => [`${each.namespace} ${configKey(each.object)}`, each]));
  return [...changes.values()]
    .toSorted((a, b) => (editedAt(b.read) ?? 0) - (editedAt(a.read) ?? 0))
    .slice(0, mostChanges)
    .map(({ object, namespace, read, flags }) => {
      const group = groupOf(object, namespace);
      const seconds = editedAt(read);
      return {
        ...group,
        editedBy: presentOf(read)?.editedBy,
        editedAt: seconds && seconds * 1000,
        batches: batchNumbers(group, flags),
      };
    })
    .filter(({ members }) => members.some(({ stage }) => stage.state !== "passed"));
}

/** Returns the objects for whose changes a workload rolls now. */
function rolledFor({ recordedHash, cause, progress }: Workload): readonly ConfigName[] {
  if (progress.state === "complete" || progress.state === "idle") return [];
  return parseCause(recordedHash, cause)?.edits ?? [];
}
