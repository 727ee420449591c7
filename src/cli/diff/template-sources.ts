import {
  readTemplateSource,
  type StoredTemplateSource,
  withTemplateOf,
} from "../../cache/workloads/template-source-reads.ts";
import { isTemplateSource } from "../../domain/config/template-source.ts";
import type { WorkloadObject, WorkloadRow } from "../../domain/model/workload.ts";
import type { ApiClient } from "../../kube/http/client.ts";

/** A Deployment of the manifests, as it is stored and as it would be. */
export interface OverlaidTemplateSource {
  /** Undefined: it is not there yet. */
  readonly before: StoredTemplateSource | undefined;
  readonly after: StoredTemplateSource;
}

/** The Deployments of the manifests, by {@link lenderKey}. */
export type OverlaidTemplateSources = ReadonlyMap<string, OverlaidTemplateSource>;

/** Where a Deployment is in {@link OverlaidLenders}. */
export function templateSourceKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** A workload as it is, which may not be there, and as it would be. */
export interface Sides<B extends WorkloadObject | undefined> {
  readonly before: B;
  readonly after: WorkloadObject;
}

/**
 * A workload before and after with the pod template that its Pods then have. A Deployment that lends it is read once; one of the
 * manifests is not read, and lends what they make of it. Throws what {@link ApiClient.request} throws, besides 404.
 */
export async function withSourceTemplates<B extends WorkloadObject | undefined>(
  client: Pick<ApiClient, "request">,
  row: WorkloadRow,
  { before, after }: Sides<B>,
  templateSources: OverlaidTemplateSources,
): Promise<Sides<B>> {
  if (row.borrowing === undefined) return { before, after };
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

/** Undefined where it borrows nothing that can be lent. */
function keyOf({ borrowing }: WorkloadRow, object: WorkloadObject): string | undefined {
  const templateSource = borrowing?.templateSourceOf(object);
  const namespace = object.metadata?.namespace;
  return templateSource && namespace !== undefined && isTemplateSource(templateSource)
    ? templateSourceKey(namespace, templateSource.name)
    : undefined;
}
