import { readTemplateSource, type StoredTemplateSource, withTemplateOf } from "../../cache/workloads/workload-reads.ts";
import type { DirectiveContext } from "../../domain/compatibility/directives.ts";
import { isTemplateSource } from "../../domain/config/tracked-view.ts";
import { standardForm, type WorkloadRow } from "../../domain/model/kind-row.ts";
import { rolloutStrategies } from "../../domain/model/rollout-strategy.ts";
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
  const templateSources = templateSourcesOf(overlay);
  const wanted = await mapBounded(overlay.workloads, async ({ row, manifest, ...sides }) => {
    const whole = await withSourceTemplates(client, row, sides, templateSources);
    const pair: WorkloadPair = { ...madeFrom(manifest, () => pairOf(row, whole, policies)), inManifests: true };
    return [pairKey(pair), pair] as const;
  });
  const wantedPairs = new Map(wanted);
  const unread: string[] = [];
  const lists = await mapBounded(kinds, (row) => {
    const keep = async (object: KubeObject & WorkloadObject): Promise<WorkloadPair | undefined> => {
      const key = workloadKey({ kind: row.id, namespace: object.metadata.namespace ?? "", name: object.metadata.name });
      if (wantedPairs.has(key) || !optsIn(row, object, policies)) return undefined;
      try {
        const sides = await withSourceTemplates(client, row, { before: object, after: object }, templateSources);
        const hasSamePolicy = !overlay.namespaces.has(object.metadata.namespace ?? "");
        const pair = pairOf(row, sides, policies, hasSamePolicy);
        return { ...pair, inManifests: pair.changesTemplate };
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
  return { pairs: [...wantedPairs.values(), ...lists.flat()], gaps: gapsElsewhere(elsewhere), unlisted: [...unlisted] };
}

/** Reports whether a workload opts in before or after. A malformed workload does not. */
function optsIn(row: WorkloadRow, object: WorkloadObject, { before, after }: BothPolicies): boolean {
  return [before, after].some((policies) => (toWorkloadIfValid(row, object, policies)?.optIn.state ?? "out") !== "out");
}

/** A workload before, which may be absent, and after. */
export type Sides = Pick<OverlaidWorkload, "before" | "after">;

/** Returns a workload before and after, from objects with their pod templates. Throws an Error if a pod template is malformed. */
function pairOf(
  row: WorkloadRow,
  sides: Sides,
  policies: BothPolicies,
  hasSamePolicy = false,
): Omit<WorkloadPair, "inManifests"> {
  const found = (object: WorkloadObject, policy: DirectiveContext): FoundWorkload => {
    return { object: standardForm(row, object), workload: toWorkload(row, object, policy) };
  };
  const before = sides.before && found(sides.before, policies.before);
  const isUntouched = before !== undefined && hasSamePolicy && sides.before === sides.after;
  const after = isUntouched ? before : found(sides.after, policies.after);
  // The Pods of a CronJob belong to its runs: the next run uses the new template.
  const { hasPods } = rolloutStrategies[row.strategy ?? "template"];
  const isSame = before === after || equalJson(before?.object.spec?.template, after.object.spec?.template);
  return { before, after, changesTemplate: hasPods && before !== undefined && !isSame };
}

/** Returns the Deployments of the manifests, which other workloads may reference for their pod templates, by {@link workloadKey}. */
function templateSourcesOf({ workloads }: Pick<Overlay, "workloads">): ReadonlyMap<string, Sides> {
  const deployments = workloads.filter(({ row }) => row.id === "Deployment");
  return new Map(deployments.map((each) => [workloadKey({ ...each.manifest, kind: each.row.id }), each]));
}

/**
 * Returns a workload before and after, each with the pod template of its template source. A Deployment is read once; a Deployment of the
 * manifests is not read, because the overlay has it. Throws what {@link ApiClient.request} throws, except 404.
 */
export async function withSourceTemplates(
  client: Pick<ApiClient, "request">,
  row: WorkloadRow,
  { before, after }: Sides,
  templateSources: ReadonlyMap<string, Sides>,
): Promise<Sides> {
  if (row.workloadRef === undefined) return { before, after };
  const [keyBefore, keyAfter] = [before && sourceKeyOf(row, before), sourceKeyOf(row, after)];
  const overlaidBefore = templateSources.get(keyBefore ?? "");
  const overlaidAfter = templateSources.get(keyAfter ?? "");
  const sourceBefore = overlaidBefore
    ? overlaidBefore.before
    : before && (await readTemplateSource(client, row, before));
  const isSame = keyBefore === keyAfter;
  const sourceAfter = overlaidAfter?.after ?? (isSame ? sourceBefore : await readTemplateSource(client, row, after));
  const withTemplate = (object: WorkloadObject, source: WorkloadObject | undefined) =>
    withTemplateOf(row, object, source as StoredTemplateSource | undefined);
  return { before: before && withTemplate(before, sourceBefore), after: withTemplate(after, sourceAfter) };
}

/** Returns undefined if the workload has no template source, or an invalid one. */
function sourceKeyOf({ workloadRef }: WorkloadRow, object: WorkloadObject): string | undefined {
  const templateSource = workloadRef?.templateSourceOf(object);
  const namespace = object.metadata?.namespace;
  return templateSource && namespace !== undefined && isTemplateSource(templateSource)
    ? workloadKey({ kind: "Deployment", namespace, name: templateSource.name })
    : undefined;
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
