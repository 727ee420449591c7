import {
  readTemplateSource,
  type StoredTemplateSource,
  withTemplateOf,
} from "../../cache/workloads/template-source-reads.ts";
import { isTemplateSource } from "../../domain/config/template-source.ts";
import type { WorkloadObject, WorkloadRow } from "../../domain/model/workload.ts";
import type { ApiClient } from "../../kube/http/client.ts";

/** A Deployment of the manifests that may be a template source, before and after. */
interface OverlaidTemplateSource {
  /** Undefined if the Deployment does not exist yet. */
  readonly before: StoredTemplateSource | undefined;
  readonly after: StoredTemplateSource;
}

/** The Deployments of the manifests, by {@link templateSourceKey}. */
export type OverlaidTemplateSources = ReadonlyMap<string, OverlaidTemplateSource>;

/** Returns the key of a Deployment in {@link OverlaidTemplateSources}. */
export function templateSourceKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** A workload before, which may be absent, and after. */
export interface Sides<B extends WorkloadObject | undefined> {
  readonly before: B;
  readonly after: WorkloadObject;
}

/**
 * Returns a workload before and after, each with the pod template of its template source. A Deployment is read once; a Deployment of the
 * manifests is not read, because the overlay has it. Throws what {@link ApiClient.request} throws, except 404.
 */
export async function withSourceTemplates<B extends WorkloadObject | undefined>(
  client: Pick<ApiClient, "request">,
  row: WorkloadRow,
  { before, after }: Sides<B>,
  templateSources: OverlaidTemplateSources,
): Promise<Sides<B>> {
  if (row.workloadRef === undefined) return { before, after };
  const keyBefore = before && keyOf(row, before);
  const keyAfter = keyOf(row, after);
  const overlaidBefore = keyBefore && templateSources.get(keyBefore);
  const templateSourceBefore = overlaidBefore
    ? overlaidBefore.before
    : before && (await readTemplateSource(client, row, before));
  const overlaidAfter = keyAfter && templateSources.get(keyAfter)?.after;
  const isSame = keyBefore !== undefined && keyBefore === keyAfter;
  const templateSourceAfter =
    overlaidAfter || (isSame ? templateSourceBefore : await readTemplateSource(client, row, after));
  const whole = before && withTemplateOf(row, before, templateSourceBefore);
  const isUnchanged = whole !== undefined && before === after && templateSourceBefore === templateSourceAfter;
  return { before: whole, after: isUnchanged ? whole : withTemplateOf(row, after, templateSourceAfter) };
}

/** Returns undefined if the workload has no template source, or an invalid one. */
function keyOf({ workloadRef }: WorkloadRow, object: WorkloadObject): string | undefined {
  const templateSource = workloadRef?.templateSourceOf(object);
  const namespace = object.metadata?.namespace;
  return templateSource && namespace !== undefined && isTemplateSource(templateSource)
    ? templateSourceKey(namespace, templateSource.name)
    : undefined;
}
