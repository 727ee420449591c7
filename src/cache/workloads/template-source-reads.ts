import { isTemplateSource } from "../../domain/config/template-source.ts";
import { kinds } from "../../domain/model/built-in-kinds.ts";
import type { WorkloadObject, WorkloadRow } from "../../domain/model/workload.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { resourcePath } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { getIfExists } from "../../kube/reads/get-if-exists.ts";

type Limits = { readonly timeoutMs?: number; readonly signal?: AbortSignal };

/** The object whose pod template another one borrows, as it is stored now. */
export type StoredTemplateSource = KubeObject & WorkloadObject;

/** Undefined where there is none, or none is borrowed. Throws what {@link ApiClient.request} throws, besides 404. */
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

/** An object with the pod template of `lender`; the object as it is where there is no lender. */
export function withTemplateOf<O extends WorkloadObject>(
  { workloadRef }: Pick<WorkloadRow, "workloadRef">,
  object: O,
  templateSource: StoredTemplateSource | undefined,
): O {
  if (workloadRef === undefined || templateSource === undefined) return object;
  return workloadRef.withTemplate(object, templateSource.spec?.template, templateSource.metadata.generation ?? 0) as O;
}

/**
 * An object with the pod template that its Pods have: where that is another object's, it is read as it is stored now. The object as it
 * is where there is no such other object. Throws what {@link ApiClient.request} throws, besides 404.
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
 * The same of the object of a name, as it is stored now; undefined where there is none. Throws what {@link ApiClient.request} throws,
 * besides 404.
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
