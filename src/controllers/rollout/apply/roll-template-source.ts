import type { StoredTemplateSource } from "../../../cache/workloads/template-source-reads.ts";
import { rollInProgress, workloadRefAnnotation } from "../../../domain/config/template-source.ts";
import type { Lookup } from "../../../domain/config/view.ts";
import { kinds } from "../../../domain/model/built-in-kinds.ts";
import { toWorkload, type Workload } from "../../../domain/model/workload.ts";
import type { Policy } from "../../../domain/policy/policy.ts";
import { fieldManager } from "../../../domain/references/field-managers.ts";
import { annotationPointer, type JsonPatch } from "../../../domain/syntax/json-patch.ts";
import { isConflict, isNotFound } from "../../../kube/api/errors.ts";
import { resourcePath } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import type { Leadership } from "../../../runtime/leadership.ts";
import { type WriteResult, writeWorkload } from "./workload-writer.ts";

type Failure = Exclude<WriteResult, { readonly type: "written" }>;
type Client = Pick<ApiClient, "request">;
type InTerm = Pick<Leadership, "abort" | "valid">;

/** What is to be rolled by the pod template of another object. */
export interface TemplateSourceRollout {
  readonly borrower: Workload;
  /** As it was read, and as the hash was planned from. */
  readonly templateSource: StoredTemplateSource;
  readonly hash: string;
  /** What records the hash, with the tests that the borrower is as it was planned. */
  readonly patch: JsonPatch;
  readonly policy: Policy;
  readonly lookup: Lookup;
}

/** The hash is in the lender's pod template; and what records it on the borrower by now. */
type Rolled = { readonly type: "acted"; readonly patch: JsonPatch };

/**
 * Writes the hash into the pod template that a workload borrows, of which its controller then makes its Pods. Nothing is written where the lender changed since it was read. Throws what {@link ApiClient.request} throws.
 */
export async function rollTemplateSource(
  client: Client,
  { borrower, templateSource, hash, patch, policy, lookup }: TemplateSourceRollout,
  leadership: InTerm,
): Promise<Failure | Rolled> {
  const { namespace } = borrower;
  const { name, uid, resourceVersion } = templateSource.metadata;
  const annotation = workloadRefAnnotation(
    toWorkload(kinds.Deployment, templateSource, policy),
    borrower,
    lookup,
    policy,
  );
  if (inTemplate(templateSource, annotation) === hash) return { type: "acted", patch };
  const failure = await noteThatRolled(client, borrower, patch, leadership, policy);
  if (failure !== undefined) return failure;
  const path = resourcePath(kinds.Deployment, { namespace, name });
  const template = { metadata: { annotations: { [annotation]: hash } } };
  const body = { metadata: { uid, resourceVersion }, spec: { template } };
  const contentType = "application/merge-patch+json";
  const { abort: signal, valid: mayBeSent } = leadership;
  try {
    const query = { fieldManager };
    const limits = { signal, mayBeSent };
    const after = await client.request<StoredTemplateSource>({
      method: "PATCH",
      path,
      query,
      contentType,
      body,
      ...limits,
    });
    if (inTemplate(after, annotation) === hash) return { type: "acted", patch: afterNote(patch, borrower) };
    const message = `something took the annotation ${annotation} off the pod template of Deployment "${name}" as it was written: keep webhooks from that`;
    return { type: "refused", message };
  } catch (error) {
    if (isNotFound(error) || isConflict(error)) return { type: "stale", newest: borrower };
    throw error;
  }
}

/** Records {@link rollInProgress} where it is not recorded yet. */
async function noteThatRolled(
  client: Client,
  borrower: Workload,
  patch: JsonPatch,
  leadership: InTerm,
  policy: Policy,
): Promise<Failure | undefined> {
  if (borrower.recordedHash === rollInProgress) return undefined;
  const path = hashPath(borrower);
  const tests = patch.filter(({ op }) => op === "test");
  const noted = await writeWorkload(
    client,
    borrower,
    [...tests, { op: "add", path, value: rollInProgress }],
    leadership,
    policy,
  );
  if (noted.type === "written") return undefined;
  return noted.type === "unavailable" ? { ...noted, uncertain: false } : noted;
}

/** The same patch where {@link rollInProgress} is recorded. */
function afterNote(patch: JsonPatch, borrower: Workload): JsonPatch {
  const isHash = (path: string) => path === hashPath(borrower);
  return patch.map((each) => (each.op === "test" && isHash(each.path) ? { ...each, value: rollInProgress } : each));
}

function hashPath({ hashAnnotation }: Workload): string {
  return annotationPointer(hashAnnotation);
}

function inTemplate({ spec }: StoredTemplateSource, annotation: string): string | undefined {
  return spec?.template?.metadata?.annotations?.[annotation];
}
