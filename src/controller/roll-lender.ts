import type { StoredLender } from "../cache/lent-template.ts";
import type { ApiClient } from "../kube/client.ts";
import { isConflict, isNotFound } from "../kube/errors.ts";
import { resourcePath } from "../kube/resources.ts";
import { fieldManager } from "../rollout/field-managers.ts";
import { kinds } from "../rollout/kinds.ts";
import { borrowerAnnotation } from "../rollout/lender.ts";
import type { Policy } from "../rollout/policy/policy.ts";
import type { Lookup } from "../rollout/view.ts";
import { toWorkload, type Workload } from "../rollout/workload.ts";
import type { WriteResult } from "./workload-writer.ts";

/** What is to be rolled by the pod template of another object. */
export interface Borrowed {
  readonly borrower: Workload;
  /** As it was read, and as the hash was planned from. */
  readonly lender: StoredLender;
  readonly hash: string;
  readonly policy: Policy;
  readonly lookup: Lookup;
}

/**
 * Writes the hash into the pod template that a workload borrows, of which its controller then makes its Pods; undefined where it is
 * there by now, else why not. Nothing is written where the lender changed since it was read. Throws what {@link ApiClient.request} throws.
 */
export async function rollLender(
  client: Pick<ApiClient, "request">,
  { borrower, lender, hash, policy, lookup }: Borrowed,
  limits: { readonly signal: AbortSignal; readonly mayBeSent: () => boolean },
): Promise<Exclude<WriteResult, { readonly type: "written" }> | undefined> {
  const { namespace } = borrower;
  const { name, uid, resourceVersion } = lender.metadata;
  const annotation = borrowerAnnotation(toWorkload(kinds.Deployment, lender, policy), borrower, lookup, policy);
  if (inTemplate(lender, annotation) === hash) return undefined;
  const path = resourcePath(kinds.Deployment, { namespace, name });
  const template = { metadata: { annotations: { [annotation]: hash } } };
  const body = { metadata: { uid, resourceVersion }, spec: { template } };
  const contentType = "application/merge-patch+json";
  try {
    const query = { fieldManager };
    const after = await client.request<StoredLender>({ method: "PATCH", path, query, contentType, body, ...limits });
    if (inTemplate(after, annotation) === hash) return undefined;
    const message = `something took the annotation ${annotation} off the pod template of Deployment "${name}" as it was written: keep webhooks from that`;
    return { type: "refused", message };
  } catch (error) {
    if (isNotFound(error) || isConflict(error)) return { type: "stale", newest: borrower };
    throw error;
  }
}

function inTemplate({ spec }: StoredLender, annotation: string): string | undefined {
  return spec?.template?.metadata?.annotations?.[annotation];
}
