import type { WorkloadRow } from "../../domain/model/kind-row.ts";
import { knownKinds } from "../../domain/model/kinds/known-kinds.ts";
import { type RequestedKind, requestedKindRow } from "../../domain/model/kinds/requested-kind.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { findResource, findStatusFields } from "../../kube/reads/discovery.ts";

/** Maximum number of requests for a schema: the API server publishes it one second after it serves the kind. */
const maxTries = 3;

interface FindKindOptions {
  /** The row of the previous call. */
  readonly before?: WorkloadRow | undefined;
  /** Waits until a schema may be published. Undefined: do not wait. */
  readonly pause?: () => Promise<void>;
  readonly signal?: AbortSignal;
}

/**
 * Returns the row of a kind; undefined if the API server does not serve it as a namespaced kind. Does not request the schema again
 * for a kind that was found before: it may have a megabyte. Throws what requests throw.
 */
export async function findKind(
  client: Pick<ApiClient, "request">,
  wanted: RequestedKind,
  { before, pause, signal }: FindKindOptions = {},
): Promise<WorkloadRow | undefined> {
  const found = await findResource(client, wanted, signal);
  if (!found?.namespaced) return undefined;
  if (before?.apiVersion === found.apiVersion && before.kind === found.kind) return before;
  if (knownKinds[wanted.id] !== undefined) return requestedKindRow(wanted, found);
  let statusFields = await findStatusFields(client, found, signal);
  for (let tries = 1; statusFields === undefined && pause !== undefined && tries < maxTries; tries++) {
    await pause();
    statusFields = await findStatusFields(client, found, signal);
  }
  return requestedKindRow(wanted, { ...found, statusFields });
}
