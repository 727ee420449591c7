import { findKind } from "../../../cache/workloads/find-kind.ts";
import { builtInKinds } from "../../../domain/model/kinds/apps-kinds.ts";
import type { RequestedKind } from "../../../domain/model/kinds/requested-kind.ts";
import type { WorkloadKind, WorkloadRow } from "../../../domain/model/workload.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { CommandFailure } from "../../command/command-failure.ts";
import { commandErrorTexts } from "../../command/error-texts.ts";
import { mapBounded } from "../requests/map-bounded.ts";

/** Returns the kinds that Wave rolls in this cluster: the built-in kinds, and each wanted kind that the API server serves. Throws what {@link ApiClient.request} throws. */
export async function availableKinds(
  client: Pick<ApiClient, "request">,
  wanted: readonly RequestedKind[],
): Promise<readonly WorkloadRow[]> {
  const served = await mapBounded(wanted, (kind) => findKind(client, kind));
  return [...builtInKinds, ...served.flatMap((row) => row ?? [])];
}

/** Returns the object with the API resource that this cluster serves for its kind. Throws a CommandFailure if Wave does not roll this kind here. */
export function withAvailableKind<O extends { readonly kind: WorkloadKind; readonly resource: WorkloadRow }>(
  object: O,
  { kinds }: { readonly kinds: readonly WorkloadRow[] },
): O {
  const row = kinds.find(({ id }) => id === object.kind);
  if (row !== undefined) return { ...object, resource: row };
  throw new CommandFailure(commandErrorTexts.kindNotRolled(object.kind));
}
