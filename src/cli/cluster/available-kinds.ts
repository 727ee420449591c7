import { findKind } from "../../cache/workloads/find-kind.ts";
import { builtInKinds } from "../../domain/model/built-in-kinds.ts";
import type { WantedKind } from "../../domain/model/kinds/requested-kind.ts";
import type { WorkloadKind, WorkloadRow } from "../../domain/model/workload.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { CommandFailure } from "../command/command-failure.ts";

/** The kinds that Wave rolls in a cluster: the built-in ones, and those of others that are there. Throws what requests throw. */
export async function availableKinds(
  client: Pick<ApiClient, "request">,
  wanted: readonly WantedKind[],
): Promise<readonly WorkloadRow[]> {
  const others = wanted.map(async (kind) => {
    const found = await findKind(client, kind);
    return found === undefined ? [] : [found];
  });
  return [...builtInKinds, ...(await Promise.all(others)).flat()];
}

/** An object whose kind is as it was found, where it is a workload. Throws a CommandFailure where Wave rolls none of its kind. */
export function withAvailableKind<O extends { readonly kind: WorkloadKind; readonly resource: WorkloadRow }>(
  object: O,
  { kinds }: { readonly kinds: readonly WorkloadRow[] },
): O {
  const row = kinds.find(({ id }) => id === object.kind);
  if (row !== undefined) return { ...object, resource: row };
  throw new CommandFailure(
    `Wave rolls no ${object.kind} here: its flag --workload-kinds does not name them, or the cluster has no such kind`,
  );
}
