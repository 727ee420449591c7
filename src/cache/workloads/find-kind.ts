import { knownKinds } from "../../domain/model/kinds/known-kinds.ts";
import { type RequestedKind, requestedKindRow } from "../../domain/model/kinds/requested-kind.ts";
import type { WorkloadRow } from "../../domain/model/workload.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { findResource } from "../../kube/reads/discovery.ts";
import { findStatusFields } from "../../kube/reads/status-fields.ts";

/** How often a definition is asked for that the API server does not tell: it publishes one a second after it serves the kind. */
const mostTries = 3;

/** What {@link findKind} may know. */
export interface FindKindOptions {
  /** The row that was found before. */
  readonly before?: WorkloadRow | undefined;
  /** Waits until a definition may have been published; where it is not given nobody waits for that. */
  readonly pause?: () => Promise<void>;
  readonly signal?: AbortSignal;
}

/**
 * The row of a kind as the API server serves it; undefined where it serves none in namespaces. Of one that was found before
 * it is not asked again what its status may have, which may be a megabyte. Throws what requests throw.
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
  for (let tries = 1; statusFields === undefined && pause !== undefined && tries < mostTries; tries++) {
    await pause();
    statusFields = await findStatusFields(client, found, signal);
  }
  return requestedKindRow(wanted, { ...found, statusFields });
}
