import { withLentTemplate } from "../../cache/lent-template.ts";
import type { KubeObject } from "../../kube/api-types.ts";
import type { ApiClient } from "../../kube/client.ts";
import { isForbidden } from "../../kube/errors.ts";
import type { Asking } from "../../rollout/dialects/asked.ts";
import { toWorkload, type Workload, type WorkloadObject, workloadIfAny, workloadKey } from "../../rollout/workload.ts";
import { standardForm, type WorkloadRow } from "../../rollout/workload-row.ts";
import { errorText } from "../../telemetry/error-text.ts";
import { inLane } from "../cluster/in-lane.ts";
import type { FoundWorkload } from "../cluster/read-workloads.ts";
import { UsageError } from "../flags/usage-error.ts";
import { listAll } from "../list/list-all.ts";
import type { OverlaidWorkload, Overlay } from "./overlay.ts";

/** A workload before and after; before it may not be there. */
export interface Pair {
  readonly before: FoundWorkload | undefined;
  readonly after: FoundWorkload;
  /** Where it is among the manifests. */
  readonly wanted: OverlaidWorkload | undefined;
}

/** The key of a workload, before and after. */
export function keyOf({ after }: Pair): string {
  return workloadKey(after.workload);
}

/** The workload as it is and as it would be. */
export function workloadsOf({ before, after }: Pair): readonly Workload[] {
  return before === undefined ? [after.workload] : [before.workload, after.workload];
}

/** What is asked for before and after: Namespaces may be among the manifests. */
export interface AskingBoth {
  readonly before: Asking;
  readonly after: Asking;
}

/** The workloads of the cluster that are looked at. */
export interface ListedPairs {
  readonly pairs: readonly Pair[];
  /** What of other namespaces may not be listed, a line each. */
  readonly gaps: readonly string[];
  /** What may not be listed even where the manifests are, a line each: without it nobody can say that nothing rolls. */
  readonly unlisted: readonly string[];
}

/**
 * The workloads of the cluster that opted in, before or after, and those of the manifests. Where only some namespaces may be
 * listed, those of these `namespaces`, and a line says so.
 */
export async function listPairs(
  client: ApiClient,
  kinds: readonly WorkloadRow[],
  asking: AskingBoth,
  overlay: Overlay,
  namespaces: readonly string[],
): Promise<ListedPairs> {
  const gaps = new Set<string>();
  const unlisted = new Set<string>();
  const wanted = new Map(overlay.workloads.map((each) => [keyOfWanted(each), wantedPair(each, asking)]));
  const lists = await inLane(kinds, (row) => {
    const keep = async (object: KubeObject & WorkloadObject): Promise<Pair | undefined> => {
      const key = workloadKey({ kind: row.id, namespace: object.metadata.namespace ?? "", name: object.metadata.name });
      if (wanted.has(key) || !asksForRolls(row, object, asking)) return undefined;
      return listedPair(row, await withLentTemplate(client, row, object), asking, overlay);
    };
    return listWhere(client, row, namespaces, keep, { gaps, unlisted });
  });
  return { pairs: [...wanted.values(), ...lists.flat()], gaps: [...gaps], unlisted: [...unlisted] };
}

/** Whether it does so before or after; a malformed one does not. */
function asksForRolls(row: WorkloadRow, object: WorkloadObject, { before, after }: AskingBoth): boolean {
  return [before, after].some((asking) => (workloadIfAny(row, object, asking)?.optIn.state ?? "out") !== "out");
}

function listedPair(
  row: WorkloadRow,
  object: KubeObject & WorkloadObject,
  asking: AskingBoth,
  { namespaces }: Overlay,
): Pair {
  const before = toWorkload(row, object, asking.before);
  const after = namespaces.has(before.namespace) ? toWorkload(row, object, asking.after) : before;
  const standard = standardForm(row, object);
  return {
    before: { object: standard, workload: before },
    after: { object: standard, workload: after },
    wanted: undefined,
  };
}

async function listWhere(
  client: ApiClient,
  row: WorkloadRow,
  namespaces: readonly string[],
  keep: (object: KubeObject & WorkloadObject) => Promise<Pair | undefined>,
  { gaps, unlisted }: { readonly gaps: Set<string>; readonly unlisted: Set<string> },
): Promise<readonly Pair[]> {
  try {
    return await listAll(client, row, {}, keep);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    gaps.add(`${row.plural} of other namespaces are not known here, and may read what is shared: ${errorText(error)}`);
  }
  const lists = await inLane(namespaces, async (namespace) => {
    try {
      return await listAll(client, row, { namespace }, keep);
    } catch (error) {
      if (!isForbidden(error)) throw error;
      unlisted.add(`${row.plural} in ${namespace} are not known here, and may roll: ${errorText(error)}`);
      return [];
    }
  });
  return lists.flat();
}

function keyOfWanted({ row, manifest: { namespace, name } }: OverlaidWorkload): string {
  return workloadKey({ kind: row.id, namespace, name });
}

function wantedPair(wanted: OverlaidWorkload, asking: AskingBoth): Pair {
  const { row, before, after, manifest } = wanted;
  const workloadOf = (object: WorkloadObject, by: Asking): FoundWorkload => {
    try {
      return { object, workload: toWorkload({ ...row, template: "/spec/template" }, object, by) };
    } catch (error) {
      throw new UsageError(`${manifest.place}: ${errorText(error)}`);
    }
  };
  return {
    before: before && workloadOf(before, asking.before),
    after: workloadOf(after, asking.after),
    wanted,
  };
}
