import type { DirectiveContext } from "../../domain/compatibility/directives.ts";
import { standardForm, type WorkloadRow } from "../../domain/model/kind-row.ts";
import { toWorkload, toWorkloadIfValid } from "../../domain/model/workload.ts";
import type { WorkloadObject } from "../../domain/model/workload-references.ts";
import { type Workload, workloadKey } from "../../domain/model/workload-shape.ts";
import { equalJson } from "../../domain/syntax/json.ts";
import { formatList } from "../../domain/syntax/names.ts";
import { ApiError, isForbidden } from "../../kube/api/api-failure.ts";
import type { KubeObject } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { errorText } from "../../telemetry/logging/log-messages.ts";
import type { FoundWorkload } from "../cluster/read/pods.ts";
import { listAll, mapBounded } from "../cluster/requests.ts";
import { type Sides, withSourceTemplates } from "./desired-objects.ts";
import { madeFrom } from "./manifests/manifest.ts";
import type { OverlaidWorkload, Overlay } from "./overlay.ts";

/** A workload without and with the manifests. */
export interface WorkloadPair {
  /** Undefined if the workload does not exist yet. */
  readonly before: FoundWorkload | undefined;
  readonly after: FoundWorkload;
  /** Whether the manifests contain the workload or the Deployment with its pod template. */
  readonly inManifests: boolean;
  /** Whether the manifests change its pod template, so that Kubernetes replaces its Pods. */
  readonly changesTemplate: boolean;
}

/** Returns the key of the workload, which is the same before and after. */
export function pairKey({ after }: WorkloadPair): string {
  return workloadKey(after.workload);
}

/** Returns the workload before and after. If the workload does not exist yet, the list has only the one after. */
export function workloadsOf({ before, after }: WorkloadPair): readonly Workload[] {
  return before === undefined ? [after.workload] : [before.workload, after.workload];
}

/** The policies before and after: the manifests may contain Namespaces. */
interface BothPolicies {
  readonly before: DirectiveContext;
  readonly after: DirectiveContext;
}

interface ListedPairs {
  readonly pairs: readonly WorkloadPair[];
  /** Failed lists of other namespaces, one line each. */
  readonly gaps: readonly string[];
  /** Failed lists in the namespaces of the manifests, one line each. Without them, "nothing rolls" is not certain. */
  readonly unlisted: readonly string[];
}

/**
 * Lists the workloads that opted in, before or after, and the workloads of the manifests. If the user may not list all namespaces, lists
 * `namespaces` only, and the result has a line about that.
 */
export async function listPairs(
  client: ApiClient,
  kinds: readonly WorkloadRow[],
  policies: BothPolicies,
  overlay: Overlay,
  namespaces: readonly string[],
): Promise<ListedPairs> {
  const elsewhere = new Map<string, string>();
  const unlisted = new Set<string>();
  const wanted = new Map(
    overlay.workloads.map((each) => [workloadKey({ ...each.manifest, kind: each.row.id }), wantedPair(each, policies)]),
  );
  const unread: string[] = [];
  const lists = await mapBounded(kinds, (row) => {
    const keep = async (object: KubeObject & WorkloadObject): Promise<WorkloadPair | undefined> => {
      const key = workloadKey({ kind: row.id, namespace: object.metadata.namespace ?? "", name: object.metadata.name });
      if (wanted.has(key) || !optsIn(row, object, policies)) return undefined;
      try {
        const sides = await withSourceTemplates(
          client,
          row,
          { before: object, after: object },
          overlay.templateSources,
        );
        return listedPair(row, sides, policies, overlay);
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
      `Cannot read some pod templates. Workloads that reference them may roll: ${formatList(unread, 2, String)}.`,
    );
  return { pairs: [...wanted.values(), ...lists.flat()], gaps: gapsElsewhere(elsewhere), unlisted: [...unlisted] };
}

/** Reports whether a workload opts in before or after. A malformed workload does not. */
function optsIn(row: WorkloadRow, object: WorkloadObject, { before, after }: BothPolicies): boolean {
  return [before, after].some((policies) => (toWorkloadIfValid(row, object, policies)?.optIn.state ?? "out") !== "out");
}

function listedPair(
  row: WorkloadRow,
  sides: Sides<WorkloadObject>,
  policies: BothPolicies,
  { namespaces }: Overlay,
): WorkloadPair {
  const workload = toWorkload(row, sides.before, policies.before);
  const before = { object: standardForm(row, sides.before), workload };
  const templateDiffers =
    sides.before !== sides.after &&
    !equalJson(before.object.spec?.template, standardForm(row, sides.after).spec?.template);
  if (!templateDiffers && !namespaces.has(workload.namespace))
    return { before, after: before, inManifests: false, changesTemplate: false };
  const after = { object: standardForm(row, sides.after), workload: toWorkload(row, sides.after, policies.after) };
  return { before, after, inManifests: templateDiffers, changesTemplate: templateDiffers };
}

/** Returns one line for all kinds, with the cause of the first failure, which is usually the same for all. */
function gapsElsewhere(unlisted: ReadonlyMap<string, string>): readonly string[] {
  const [why] = unlisted.values();
  if (why === undefined) return [];
  const kinds = formatList([...unlisted.keys()].sort(), unlisted.size, String);
  return [`Cannot list ${kinds} in other namespaces. Workloads there may read shared objects. Cause: ${why}.`];
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
      unlisted.add(`Cannot list ${row.plural} in ${namespace}. Workloads there may roll. Cause: ${errorText(error)}.`);
      return [];
    }
  });
  return lists.flat();
}

function wantedPair(wanted: OverlaidWorkload, policies: BothPolicies): WorkloadPair {
  const { row, before, after, manifest, changesTemplate } = wanted;
  const standardRow = { ...row, template: "/spec/template" } as const;
  const workloadOf = (object: WorkloadObject, by: DirectiveContext): FoundWorkload => {
    return { object, workload: madeFrom(manifest, () => toWorkload(standardRow, object, by)) };
  };
  return {
    before: before && workloadOf(before, policies.before),
    after: workloadOf(after, policies.after),
    inManifests: true,
    changesTemplate,
  };
}
