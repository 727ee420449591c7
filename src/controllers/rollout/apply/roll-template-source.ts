import type { StoredTemplateSource } from "../../../cache/workloads/workload-reads.ts";
import { allowsWorkloadRef, rollInProgress, workloadRefAnnotation } from "../../../domain/config/template-source.ts";
import type { Lookup } from "../../../domain/config/view-of-references.ts";
import { kinds } from "../../../domain/model/kinds/apps-kinds.ts";
import { toWorkload, type Workload } from "../../../domain/model/workload.ts";
import { type ClusterPolicy, policyFor } from "../../../domain/policy/policy.ts";
import { fieldManager } from "../../../domain/references/field-managers.ts";
import { annotationPointer, type JsonPatch } from "../../../domain/syntax/json.ts";
import { isConflict, isNotFound } from "../../../kube/api/api-failure.ts";
import { resourcePath } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import type { Leadership } from "../../../runtime/write-permits.ts";
import { refusedTexts } from "../report/event-texts.ts";
import { type WriteResult, writeWorkload } from "./workload-writer.ts";

type Failure = Exclude<WriteResult, { readonly type: "written" }>;
type Client = Pick<ApiClient, "request">;
type WhileLeading = Pick<Leadership, "abort" | "valid">;

/** A rollout of a workload through the pod template of another object. */
export interface TemplateSourceRollout {
  readonly workload: Workload;
  /** The template source as it was read, from which the hash was planned. */
  readonly templateSource: StoredTemplateSource;
  readonly hash: string;
  /** Records the hash, and tests that the workload is as it was planned. */
  readonly patch: JsonPatch;
  readonly policy: ClusterPolicy;
  readonly lookup: Lookup;
}

/** The hash is in the pod template of the source. `patch` records it on the workload. */
type Rolled = { readonly type: "acted"; readonly patch: JsonPatch };

/**
 * Writes the hash into the pod template of a workloadRef, from which the controller of the workload creates its Pods.
 * Nothing is written if the template source changed since it was read. Rejects with the errors of {@link ApiClient.request}.
 */
export async function rollTemplateSource(
  client: Client,
  { workload, templateSource, hash, patch, policy, lookup }: TemplateSourceRollout,
  leadership: WhileLeading,
): Promise<Failure | Rolled> {
  const { namespace } = workload;
  const { name, uid, resourceVersion } = templateSource.metadata;
  const decided = (each: Workload) => ({ workload: each, policy: policyFor(each, policy) });
  const source = toWorkload(kinds.Deployment, templateSource, policy);
  const annotation = workloadRefAnnotation(decided(source), decided(workload), lookup);
  if (inTemplate(templateSource, annotation) === hash) return { type: "acted", patch };
  if (!allowsWorkloadRef(templateSource, decided(source)))
    return { type: "refused", message: refusedTexts.workloadRefNotAllowed(name) };
  const failure = await recordRollInProgress(client, workload, patch, leadership, policy);
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
    if (inTemplate(after, annotation) === hash) return { type: "acted", patch: afterRecord(patch, workload) };
    return { type: "refused", message: refusedTexts.annotationRemovedOnWrite(annotation, name) };
  } catch (error) {
    if (isNotFound(error) || isConflict(error)) return { type: "stale", newest: workload };
    throw error;
  }
}

/** Records {@link rollInProgress} if it is not recorded yet. */
async function recordRollInProgress(
  client: Client,
  workload: Workload,
  patch: JsonPatch,
  leadership: WhileLeading,
  policy: ClusterPolicy,
): Promise<Failure | undefined> {
  if (workload.recordedHash === rollInProgress) return undefined;
  const path = hashPath(workload);
  const tests = patch.filter(({ op }) => op === "test");
  const noted = await writeWorkload(
    client,
    workload,
    [...tests, { op: "add", path, value: rollInProgress }],
    leadership,
    policy,
  );
  if (noted.type === "written") return undefined;
  return noted.type === "unavailable" ? { ...noted, uncertain: false } : noted;
}

/** Returns the patch for a workload on which {@link rollInProgress} is recorded. */
function afterRecord(patch: JsonPatch, workload: Workload): JsonPatch {
  const isHash = (path: string) => path === hashPath(workload);
  return patch.map((each) => (each.op === "test" && isHash(each.path) ? { ...each, value: rollInProgress } : each));
}

function hashPath({ hashAnnotation }: Workload): string {
  return annotationPointer(hashAnnotation);
}

function inTemplate({ spec }: StoredTemplateSource, annotation: string): string | undefined {
  return spec?.template?.metadata?.annotations?.[annotation];
}
