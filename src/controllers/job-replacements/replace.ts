// The replacements controller: creates the Jobs that Wave deleted and did not create again. This file replaces one Job. Its record is a
// suspended Job, stored before the deletion.
import { nameOfCreatedJob, type RecordedReplacement } from "../../domain/model/job-replacement.ts";
import { isAlreadyExists, isNotFound } from "../../kube/api/api-failure.ts";
import { type KubeObject, resourcePath, resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { getIfExists } from "../../kube/reads/reads.ts";

type Client = Pick<ApiClient, "request">;

/** How a replacement ended. "created": the Job exists again. "exists": another client created it. "kept": the old Job was not deleted. */
export type ReplacementResult =
  | { readonly type: "created"; readonly job: KubeObject }
  | { readonly type: "exists" }
  | { readonly type: "kept"; readonly isDeleting: boolean };

/** Creates the Job of a replacement. Rejects with the error of the API server. */
export async function createReplacement(
  client: Client,
  namespace: string,
  { name, replaces, manifest }: RecordedReplacement,
): Promise<ReplacementResult> {
  try {
    const path = resourcePath(resources.jobs, { namespace });
    return { type: "created", job: await client.request<KubeObject>({ method: "POST", path, body: manifest }) };
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const found = await getIfExists<KubeObject>(client, { path: resourcePath(resources.jobs, { namespace, name }) });
    if (found?.metadata.uid !== replaces) return { type: "exists" };
    return { type: "kept", isDeleting: found.metadata.deletionTimestamp !== undefined };
  }
}

/** Deletes the record of a replacement. Rejects with the error of the API server. */
export async function deleteRecord(
  client: Client,
  namespace: string,
  { name, replaces }: Pick<RecordedReplacement, "name" | "replaces">,
): Promise<void> {
  const path = resourcePath(resources.jobs, { namespace, name: nameOfCreatedJob(name, replaces) });
  try {
    await client.request({ method: "DELETE", path, body: { propagationPolicy: "Background" } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
