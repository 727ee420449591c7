import { listOwnedObjects } from "../../controllers/owner-references/owned-objects.ts";
import { type WriteOptions, writeFinalizer, writeOwners } from "../../controllers/owner-references/write-requests.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import { type Owners, type OwnersPlan, ownerText } from "../../domain/owner-references/owner-references.ts";
import { parseStoredKey } from "../../domain/references/references.ts";
import { isApiFailure } from "../../kube/api/api-failure.ts";
import { soleLeadership } from "../../runtime/write-permits.ts";
import { errorText } from "../../telemetry/logging/log-messages.ts";
import { mapBounded } from "../cluster/requests.ts";
import { listMatching, type ReleaseContext, type StepResult, summary } from "./release-step.ts";

/** How often a namespace is tried if its objects change between the read and the write. */
const mostTries = 3;

/** Removes Wave's finalizers after the owner references: otherwise Kubernetes could delete configuration together with workloads. */
export async function removeFinalizers(context: ReleaseContext): Promise<StepResult> {
  const { workloads, failures } = await listMatching(context, ({ oldFinalizer }) => oldFinalizer);
  const touched: Workload[] = [];
  const refused: string[] = [];
  for (const [namespace, group] of Map.groupBy(workloads, (workload) => workload.namespace)) {
    const failure = await freeWithRetry(context, namespace, group);
    if (failure === undefined) touched.push(...group);
    else refused.push(failure);
  }
  return { touched, failures: [...failures, ...summary("Some finalizers stay", refused)] };
}

/** Frees the workloads of a namespace. Returns why some of them keep their finalizer; undefined if none does. */
async function freeWithRetry(
  context: ReleaseContext,
  namespace: string,
  workloads: readonly Workload[],
): Promise<string | undefined> {
  for (let tries = mostTries; ; tries -= 1) {
    try {
      await free(context, namespace, workloads);
      return undefined;
    } catch (error) {
      if (!isApiFailure(error)) throw error;
      if (tries === 1) return errorText(error);
    }
  }
}

async function free(
  { client, policy }: ReleaseContext,
  namespace: string,
  workloads: readonly Workload[],
): Promise<void> {
  const leadership = soleLeadership(new AbortController().signal);
  const options: WriteOptions = { client, leadership, caches: { kinds: () => policy.kinds, owners: undefined } };
  const owners = new Set(workloads.map(ownerText));
  const owned = await listOwnedObjects(client, namespace, owners, policy.kinds, leadership.abort);
  const objects = [...new Set([...owned.values()].flat())];
  await mapBounded(objects, (key) =>
    writeOwners(parseStoredKey(key), (stored) => withoutOwners(stored, owners), options),
  );
  await mapBounded(workloads, (workload) => writeFinalizer(workload, false, options));
}

/** Returns the plan that removes these owners, and the Namespace with the last owner. */
function withoutOwners({ workloads, namespaceOwner }: Owners, owners: ReadonlySet<string>): OwnersPlan | undefined {
  const dropped = workloads.filter((text) => owners.has(text));
  if (dropped.length === 0) return undefined;
  return { added: [], dropped, namespaceOwner: namespaceOwner && dropped.length < workloads.length };
}
