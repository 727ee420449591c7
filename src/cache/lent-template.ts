import type { KubeObject } from "../kube/api-types.ts";
import type { ApiClient } from "../kube/client.ts";
import { isNotFound } from "../kube/errors.ts";
import { resourcePath } from "../kube/resources.ts";
import { kinds } from "../rollout/kinds.ts";
import { canLend } from "../rollout/lender.ts";
import type { WorkloadObject, WorkloadRow } from "../rollout/workload.ts";

/**
 * An object with the pod template that its Pods have: where that is another object's, it is read as it is stored now. The object as it
 * is where there is no such other object. Throws what {@link ApiClient.request} throws, besides 404.
 */
export async function withLentTemplate<O extends WorkloadObject>(
  client: Pick<ApiClient, "request">,
  { borrowing }: Pick<WorkloadRow, "borrowing">,
  object: O,
  limits: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {},
): Promise<O> {
  const lender = borrowing?.lenderOf(object);
  const namespace = object.metadata?.namespace;
  if (borrowing === undefined || lender === undefined || namespace === undefined || !canLend(lender)) return object;
  const path = resourcePath(kinds.Deployment, { namespace, name: lender.name });
  try {
    const { metadata, spec } = await client.request<KubeObject & WorkloadObject>({ method: "GET", path, ...limits });
    return borrowing.withTemplate(object, spec?.template, metadata.generation ?? 0) as O;
  } catch (error) {
    if (isNotFound(error)) return object;
    throw error;
  }
}

/**
 * The same of the object of a name, as it is stored now; undefined where there is none. Throws what {@link ApiClient.request} throws,
 * besides 404.
 */
export async function readWithLentTemplate(
  client: Pick<ApiClient, "request">,
  row: WorkloadRow,
  name: { readonly namespace: string; readonly name: string },
  limits: { readonly timeoutMs?: number; readonly signal?: AbortSignal },
): Promise<(KubeObject & WorkloadObject) | undefined> {
  let object: KubeObject & WorkloadObject;
  try {
    object = await client.request({ method: "GET", path: resourcePath(row, name), ...limits });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
  return withLentTemplate(client, row, object, limits);
}
