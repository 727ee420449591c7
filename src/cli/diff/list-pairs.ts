import type { Asking } from "../../domain/compatibility/directives.ts";
import { standardForm, type WorkloadRow } from "../../domain/model/kind-row.ts";
import {
  toWorkload,
  type Workload,
  type WorkloadObject,
  workloadIfAny,
  workloadKey,
} from "../../domain/model/workload.ts";
import { sameJson } from "../../domain/syntax/same-json.ts";
import { enumerated } from "../../domain/syntax/wording.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { ApiError, isForbidden } from "../../kube/api/errors.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import { mapBounded } from "../cluster/map-bounded.ts";
import { listAll } from "../cluster/list-all.ts";
import type { FoundWorkload } from "../cluster/read-workloads.ts";
import { UsageError } from "../flags/usage-error.ts";
import { type Sides, withSourceTemplates } from "./template-sources.ts";
import type { OverlaidWorkload, Overlay } from "./overlay.ts";

/** A workload before and after; before it may not be there. */
export interface WorkloadPair {
  readonly before: FoundWorkload | undefined;
  readonly after: FoundWorkload;
  /** Whether it is among the manifests, or the Deployment is whose pod template it borrows. */
  readonly isWanted: boolean;
  /** Whether Kubernetes replaces its Pods by itself. */
  readonly changesTemplate: boolean;
}

/** The key of a workload, before and after. */
export function pairKey({ after }: WorkloadPair): string {
  return workloadKey(after.workload);
}

/** The workload as it is and as it would be. */
export function workloadsOf({ before, after }: WorkloadPair): readonly Workload[] {
  return before === undefined ? [after.workload] : [before.workload, after.workload];
}

/** What decides what is asked for, before and after: the manifests may hold Namespaces. */
export interface BothPolicies {
  readonly before: Asking;
  readonly after: Asking;
}

/** The workloads of the cluster that are looked at. */
export interface ListedPairs {
  readonly pairs: readonly WorkloadPair[];
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
  asking: BothPolicies,
  overlay: Overlay,
  namespaces: readonly string[],
): Promise<ListedPairs> {
  const elsewhere = new Map<string, string>();
  const unlisted = new Set<string>();
  const wanted = new Map(overlay.workloads.map((each) => [keyOfWanted(each), wantedPair(each, asking)]));
  const unread: string[] = [];
  const lists = await mapBounded(kinds, (row) => {
    const keep = async (object: KubeObject & WorkloadObject): Promise<WorkloadPair | undefined> => {
      const key = workloadKey({ kind: row.id, namespace: object.metadata.namespace ?? "", name: object.metadata.name });
      if (wanted.has(key) || !asksForRolls(row, object, asking)) return undefined;
      try {
        const sides = await withSourceTemplates(
          client,
          row,
          { before: object, after: object },
          overlay.templateSources,
        );
        return listedPair(row, sides, asking, overlay);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        unread.push(`${key}: ${errorText(error)}`);
        return undefined;
      }
    };
    return listWhere(client, row, namespaces, keep, { elsewhere, unlisted });
  });
  if (unread.length > 0)
    unlisted.add(
      `pod templates that are borrowed could not be read, and what has them may roll: ${enumerated(unread, 2, String)}`,
    );
  return { pairs: [...wanted.values(), ...lists.flat()], gaps: gapsElsewhere(elsewhere), unlisted: [...unlisted] };
}

/** Whether it does so before or after; a malformed one does not. */
function asksForRolls(row: WorkloadRow, object: WorkloadObject, { before, after }: BothPolicies): boolean {
  return [before, after].some((asking) => (workloadIfAny(row, object, asking)?.optIn.state ?? "out") !== "out");
}

function listedPair(row: WorkloadRow, sides: Sides<WorkloadObject>, asking: BothPolicies, { namespaces }: Overlay): WorkloadPair {
  const workload = toWorkload(row, sides.before, asking.before);
  const before = { object: standardForm(row, sides.before), workload };
  const isLent =
    sides.before !== sides.after &&
    !sameJson(before.object.spec?.template, standardForm(row, sides.after).spec?.template);
  if (!isLent && !namespaces.has(workload.namespace))
    return { before, after: before, isWanted: false, changesTemplate: false };
  const after = { object: standardForm(row, sides.after), workload: toWorkload(row, sides.after, asking.after) };
  return { before, after, isWanted: isLent, changesTemplate: isLent };
}

/** In one line, with the reason of the first: mostly it is the same for all kinds. */
function gapsElsewhere(unlisted: ReadonlyMap<string, string>): readonly string[] {
  const [why] = unlisted.values();
  if (why === undefined) return [];
  const kinds = enumerated([...unlisted.keys()].sort(), unlisted.size, String);
  return [`${kinds} of other namespaces are not known here, and may read what is shared: ${why}`];
}

async function listWhere(
  client: ApiClient,
  row: WorkloadRow,
  namespaces: readonly string[],
  keep: (object: KubeObject & WorkloadObject) => Promise<WorkloadPair | undefined>,
  { elsewhere, unlisted }: { readonly elsewhere: Map<string, string>; readonly unlisted: Set<string> },
): Promise<readonly WorkloadPair[]> {
  try {
    return await listAll(client, row, {}, keep);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    elsewhere.set(row.plural, errorText(error));
  }
  const lists = await mapBounded(namespaces, async (namespace) => {
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

function wantedPair(wanted: OverlaidWorkload, asking: BothPolicies): WorkloadPair {
  const { row, before, after, manifest, changesTemplate } = wanted;
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
    isWanted: true,
    changesTemplate,
  };
}
