import { isTemplateSource } from "../../domain/config/template-source.ts";
import { kinds } from "../../domain/model/kinds/apps-kinds.ts";
import type { WorkloadObject, WorkloadRow } from "../../domain/model/workload.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { resourcePath } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { getIfExists } from "../../kube/reads/get-if-exists.ts";

type Limits = { readonly timeoutMs?: number; readonly signal?: AbortSignal };

/** The stored object whose pod template a workload uses. */
export type StoredTemplateSource = KubeObject & WorkloadObject;

/** Reads the template source of a workload; undefined if there is none. Throws what {@link ApiClient.request} throws, except 404. */
export async function readTemplateSource(
  client: Pick<ApiClient, "request">,
  { workloadRef }: Pick<WorkloadRow, "workloadRef">,
  object: WorkloadObject,
  limits: Limits = {},
): Promise<StoredTemplateSource | undefined> {
  const templateSource = workloadRef?.templateSourceOf(object);
  const namespace = object.metadata?.namespace;
  if (templateSource === undefined || namespace === undefined || !isTemplateSource(templateSource)) return undefined;
  const path = resourcePath(kinds.Deployment, { namespace, name: templateSource.name });
  return getIfExists<StoredTemplateSource>(client, { path, ...limits });
}

/** Returns an object with the pod template of `templateSource`; the unchanged object if there is none. */
export function withTemplateOf<O extends WorkloadObject>(
  { workloadRef }: Pick<WorkloadRow, "workloadRef">,
  object: O,
  templateSource: StoredTemplateSource | undefined,
): O {
  if (workloadRef === undefined || templateSource === undefined) return object;
  return workloadRef.withTemplate(object, templateSource.spec?.template, templateSource.metadata.generation ?? 0) as O;
}

/**
 * Returns an object with the pod template of its template source, which is read as it is stored now. Returns the object unchanged
 * if it has no template source. Throws what {@link ApiClient.request} throws, except 404.
 */
export async function withBorrowedTemplate<O extends WorkloadObject>(
  client: Pick<ApiClient, "request">,
  row: Pick<WorkloadRow, "workloadRef">,
  object: O,
  limits: Limits = {},
): Promise<O> {
  return withTemplateOf(row, object, await readTemplateSource(client, row, object, limits));
}

/**
 * Reads an object and completes it like {@link withBorrowedTemplate}; undefined if it does not exist. Throws what
 * {@link ApiClient.request} throws, except 404.
 */
export async function readWithBorrowedTemplate(
  client: Pick<ApiClient, "request">,
  row: WorkloadRow,
  name: { readonly namespace: string; readonly name: string },
  limits: Limits,
): Promise<(KubeObject & WorkloadObject) | undefined> {
  const object = await getIfExists<KubeObject & WorkloadObject>(client, { path: resourcePath(row, name), ...limits });
  return object && withBorrowedTemplate(client, row, object, limits);
}
