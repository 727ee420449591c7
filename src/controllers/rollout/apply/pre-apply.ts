import { readTemplateSource, withTemplateOf, workloadPath } from "../../../cache/workloads/workload-reads.ts";
import { missingTemplateWarning } from "../../../domain/config/template-source.ts";
import type { Lookup } from "../../../domain/config/view-of-references.ts";
import { type CronJobObject, cronJobRun } from "../../../domain/model/job-replacement.ts";
import { kinds } from "../../../domain/model/kinds/apps-kinds.ts";
import { toWorkload, type Workload, type WorkloadObject } from "../../../domain/model/workload.ts";
import type { JsonPatch } from "../../../domain/patch/workload-patch.ts";
import type { ClusterPolicy } from "../../../domain/policy/policy.ts";
import { equalJson } from "../../../domain/syntax/json.ts";
import { isAlreadyExists } from "../../../kube/api/api-failure.ts";
import type { KubeObject } from "../../../kube/api/api-types.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import type { Leadership } from "../../../runtime/write-permits.ts";
import { retriedTexts } from "../report/event-texts.ts";
import { rollTemplateSource } from "./roll-template-source.ts";
import { passesTests, type WriteResult } from "./workload-writer.ts";
import { writeFailure } from "./write-failure.ts";

type Stored = KubeObject & WorkloadObject;
type Failure = Exclude<WriteResult, { readonly type: "written" }>;
/** The action is done. `patch` is what must be written to the workload now. */
type Acted = { readonly type: "acted"; readonly patch: JsonPatch };
type Client = Pick<ApiClient, "request">;
type Limits = { readonly signal: AbortSignal; readonly mayBeSent: () => boolean };

/**
 * Creates new Pods for a workload whose own hash creates none. Returns "acted", or why not. It runs before `patch` records
 * the hash: after a crash between the two the rollout is still due, and doing it again changes nothing.
 */
export async function preApply(
  client: Client,
  workload: Workload,
  hash: string,
  patch: JsonPatch,
  leadership: Pick<Leadership, "abort" | "valid">,
  policy: ClusterPolicy,
  lookup: Lookup,
): Promise<Failure | Acted> {
  const { abort: signal, valid: mayBeSent } = leadership;
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
      await runOnce(client, object, newest, hash, { signal, mayBeSent });
      return { type: "acted", patch };
    }
    return await rollTemplateSource(
      client,
      { workload: newest, templateSource, hash, patch, policy, lookup },
      leadership,
    );
  } catch (error) {
    signal.throwIfAborted();
    const written = workload.templateSource === undefined ? workload : { ...workload, row: kinds.Deployment };
    const failure = writeFailure(error, written);
    switch (failure.type) {
      case "unavailable":
        return { ...failure, uncertain: false };
      case "stale":
        return { type: "unavailable", message: retriedTexts.templateSourceChanging, retryAfterMs: 0, uncertain: false };
      case "staleOrRefused":
        return { type: "refused", message: failure.message };
      default:
        return failure;
    }
  }
}

/** Runs a CronJob once, in addition to its schedule. */
async function runOnce(
  client: Client,
  object: Stored & CronJobObject,
  workload: Workload,
  hash: string,
  limits: Limits,
): Promise<void> {
  const body = cronJobRun(object, workload, hash);
  const path = `/apis/batch/v1/namespaces/${workload.namespace}/jobs`;
  try {
    if (body !== undefined) await client.request({ method: "POST", path, body, ...limits });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
