// What creates new Pods before the hash is recorded, for kinds whose own hash creates none. This folder knows the API, but no memory.
import {
  readTemplateSource,
  type StoredTemplateSource,
  withTemplateOf,
  workloadPath,
} from "../../../cache/workloads/workload-reads.ts";
import {
  allowsWorkloadRef,
  missingTemplateWarning,
  rollInProgress,
  workloadRefAnnotation,
} from "../../../domain/config/tracked-view.ts";
import { type CronJobObject, cronJobRun } from "../../../domain/model/job-replacement.ts";
import { kinds } from "../../../domain/model/kinds/apps-kinds.ts";
import { toWorkload } from "../../../domain/model/workload.ts";
import type { WorkloadObject } from "../../../domain/model/workload-references.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import { rulesFor } from "../../../domain/policy/rules.ts";
import { fieldManager } from "../../../domain/references/field-managers.ts";
import { annotationPointer, equalJson, type JsonPatch } from "../../../domain/syntax/json.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../../../kube/api/api-failure.ts";
import { type KubeObject, resourcePath } from "../../../kube/api/resources.ts";
import type { LeaderParts } from "../../leader-context.ts";
import { refusedTexts, retriedTexts } from "../report/event-texts.ts";
import { passesTests, type WriteOptions, type WriteResult, writeFailure, writeWorkload } from "./workload-writer.ts";

type PreApplyOptions = LeaderParts<"client" | "policy" | "leadership", "lookup">;
type Stored = KubeObject & WorkloadObject;
type Failure = Exclude<WriteResult, { readonly type: "written" }>;
/** The action is done. `patch` is what must be written to the workload now. */
type Acted = { readonly type: "acted"; readonly patch: JsonPatch };

/**
 * Creates new Pods for a workload whose own hash creates none. Returns "acted", or why not. It runs before `patch` records
 * the hash: after a crash between the two the rollout is still due, and doing it again changes nothing.
 */
export async function preApply(
  workload: Workload,
  hash: string,
  patch: JsonPatch,
  options: PreApplyOptions,
): Promise<Failure | Acted> {
  const { client, policy, leadership } = options;
  const { abort: signal } = leadership;
  try {
    const path = workloadPath(workload);
    const read = await client.request<Stored>({ method: "GET", path, signal });
    const templateSource = await readTemplateSource(client, workload.row, read, { signal });
    const object = withTemplateOf(workload.row, read, templateSource);
    const newest = toWorkload(workload.row, object, policy);
    if (!passesTests(patch, object)) return { type: "stale", newest };
    const unread = missingTemplateWarning(newest);
    // The template source may come back without an event.
    if (unread !== undefined) return { type: "refused", message: unread.message };
    if (!equalJson(newest.references, workload.references)) return { type: "stale", newest };
    if (templateSource === undefined) {
      await runOnce(object, newest, hash, options);
      return { type: "acted", patch };
    }
    return await rollTemplateSource(newest, templateSource, hash, patch, options);
  } catch (error) {
    if (signal.aborted) return { type: "stopped" };
    const written = workload.templateSource === undefined ? workload : { ...workload, row: kinds.Deployment };
    const failure = writeFailure(error, written);
    switch (failure.type) {
      case "unavailable":
        return { ...failure, uncertain: false };
      case "stale":
        if (failure.refusal !== undefined) return { type: "refused", message: failure.refusal };
        return { type: "unavailable", message: retriedTexts.templateSourceChanging, retryAfterMs: 0, uncertain: false };
      default:
        return failure;
    }
  }
}

/** Runs a CronJob once, in addition to its schedule. */
async function runOnce(
  object: Stored & CronJobObject,
  workload: Workload,
  hash: string,
  { client, leadership: { abort: signal, valid: mayBeSent } }: PreApplyOptions,
): Promise<void> {
  const body = cronJobRun(object, workload, hash);
  const path = `/apis/batch/v1/namespaces/${workload.namespace}/jobs`;
  try {
    if (body !== undefined) await client.request({ method: "POST", path, body, signal, mayBeSent });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/**
 * Writes the hash into the pod template of a workloadRef, from which the controller of the workload creates its Pods. `patch` records the hash,
 * and tests that the workload is as it was planned. Nothing is written if the template source changed since it was read. Rejects with the
 * errors of requests.
 */
async function rollTemplateSource(
  workload: Workload,
  templateSource: StoredTemplateSource,
  hash: string,
  patch: JsonPatch,
  options: PreApplyOptions,
): Promise<Failure | Acted> {
  const { client, policy, caches, leadership } = options;
  const { namespace } = workload;
  const { name, uid, resourceVersion } = templateSource.metadata;
  const decided = (each: Workload) => ({ workload: each, rules: rulesFor(each, policy) });
  const source = toWorkload(kinds.Deployment, templateSource, policy);
  const annotation = workloadRefAnnotation(decided(source), decided(workload), caches.lookup);
  if (inTemplate(templateSource, annotation) === hash) return { type: "acted", patch };
  if (!allowsWorkloadRef(templateSource, decided(source)))
    return { type: "refused", message: refusedTexts.workloadRefNotAllowed(name) };
  const failure = await recordRollInProgress(workload, patch, options);
  if (failure !== undefined) return failure;
  const path = resourcePath(kinds.Deployment, { namespace, name });
  const template = { metadata: { annotations: { [annotation]: hash } } };
  const body = { metadata: { uid, resourceVersion }, spec: { template } };
  try {
    const after = await client.request<StoredTemplateSource>({
      method: "PATCH",
      path,
      query: { fieldManager },
      contentType: "application/merge-patch+json",
      body,
      signal: leadership.abort,
      mayBeSent: leadership.valid,
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
  workload: Workload,
  patch: JsonPatch,
  options: WriteOptions,
): Promise<Failure | undefined> {
  if (workload.recordedHash === rollInProgress) return undefined;
  const path = hashPath(workload);
  const tests = patch.filter(({ op }) => op === "test");
  const noted = await writeWorkload(workload, [...tests, { op: "add", path, value: rollInProgress }], options);
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
