import { withLentTemplate } from "../cache/lent-template.ts";
import { workloadPath } from "../cache/workload-resource.ts";
import type { KubeObject } from "../kube/api-types.ts";
import type { ApiClient } from "../kube/client.ts";
import { isAlreadyExists, isNotFound } from "../kube/errors.ts";
import { resourcePath } from "../kube/resources.ts";
import { configHash } from "../rollout/annotations.ts";
import type { Asking } from "../rollout/dialects/asked.ts";
import { fieldManager } from "../rollout/field-managers.ts";
import { kinds } from "../rollout/kinds.ts";
import { unreadTemplate } from "../rollout/lender.ts";
import { type CronJobObject, manualRun } from "../rollout/manual-run.ts";
import type { JsonPatch } from "../rollout/patch.ts";
import { sameJson } from "../rollout/same-json.ts";
import { type Lender, toWorkload, type Workload, type WorkloadObject } from "../rollout/workload.ts";
import type { Leadership } from "./leadership.ts";
import { passesTests, type WriteResult } from "./workload-writer.ts";
import { writeFailure } from "./write-failure.ts";

type Stored = KubeObject & WorkloadObject;
type Failure = Exclude<WriteResult, { readonly type: "written" }>;
type Client = Pick<ApiClient, "request">;
type Limits = { readonly signal: AbortSignal; readonly mayBeSent: () => boolean };

/**
 * Does what makes new Pods with a hash, where writing it to the workload does not; undefined where that was done, else why not. It comes
 * before the hash is recorded by `patch`: whoever crashes in between finds it still due, and doing it again changes nothing.
 */
export async function actFirst(
  client: Client,
  workload: Workload,
  hash: string,
  patch: JsonPatch,
  { abort: signal, valid: mayBeSent }: Pick<Leadership, "abort" | "valid">,
  asking: Asking,
): Promise<Failure | undefined> {
  try {
    const path = workloadPath(workload);
    const read = await client.request<Stored>({ method: "GET", path, signal });
    const object = await withLentTemplate(client, workload.row, read, { signal });
    const newest = toWorkload(workload.row, object, asking);
    if (!passesTests(patch, object)) return { type: "stale", newest };
    const unread = unreadTemplate(newest);
    // It may come back, of which nobody hears.
    if (unread !== undefined) return { type: "refused", message: unread.message };
    if (!sameJson(newest.references, workload.references)) return { type: "stale", newest };
    const limits = { signal, mayBeSent };
    if (newest.lender === undefined) return await runOnce(client, object, newest, hash, limits);
    return await rollLender(client, newest, newest.lender, hash, limits);
  } catch (error) {
    signal.throwIfAborted();
    const written = workload.lender === undefined ? workload : { ...workload, row: kinds.Deployment };
    const failure = writeFailure(error, written);
    switch (failure.type) {
      case "unavailable":
        return { ...failure, uncertain: false };
      case "stale":
        return { type: "unavailable", message: "what makes its Pods kept changing", retryAfterMs: 0, uncertain: false };
      case "staleOrRefused":
        return { type: "refused", message: failure.message };
      default:
        return failure;
    }
  }
}

/** Runs a CronJob beside its schedule. */
async function runOnce(
  client: Client,
  object: Stored & CronJobObject,
  workload: Workload,
  hash: string,
  limits: Limits,
): Promise<undefined> {
  const body = manualRun(object, workload, hash);
  const path = `/apis/batch/v1/namespaces/${workload.namespace}/jobs`;
  try {
    if (body !== undefined) await client.request({ method: "POST", path, body, ...limits });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** Writes the hash into the pod template that a workload borrows, of which its controller then makes its Pods. */
async function rollLender(
  client: Client,
  workload: Workload,
  { name }: Lender,
  hash: string,
  limits: Limits,
): Promise<Failure | undefined> {
  const path = resourcePath(kinds.Deployment, { namespace: workload.namespace, name });
  const contentType = "application/merge-patch+json";
  const body = { spec: { template: { metadata: { annotations: { [configHash]: hash } } } } };
  try {
    await client.request({ method: "PATCH", path, query: { fieldManager }, contentType, body, ...limits });
    return undefined;
  } catch (error) {
    if (isNotFound(error)) return { type: "stale", newest: workload };
    throw error;
  }
}
