import type { WorkloadRow } from "../../domain/model/kind-row.ts";
import { type CollectMoment, type CollectPlan, collectCopies, type StoredCopy } from "../../domain/pinning/collect.ts";
import type { FreshListOptions } from "../../kube/reads/fresh-list.ts";
import { readCopies } from "../../pinning/read-copies.ts";
import { readUses, type UsesRead } from "./read-uses.ts";

/** What a sweep has read, and what it does. */
export interface SweepPlan {
  readonly copies: readonly StoredCopy[];
  readonly uses: UsesRead;
  readonly plan: CollectPlan;
}

/**
 * Reads the copies of a namespace, then everything that may use them, and decides. The copies are read first: a client that takes a marked
 * copy into use after that changes its resourceVersion. `momentOf` returns the moment of the decision.
 */
export async function planSweep(
  namespace: string,
  kinds: readonly WorkloadRow[],
  listing: FreshListOptions,
  momentOf: (copies: readonly StoredCopy[]) => CollectMoment,
): Promise<SweepPlan> {
  const copies = await readCopies(namespace, listing);
  const uses = await readUses(copies, namespace, kinds, listing);
  return { copies, uses, plan: collectCopies(copies, uses, momentOf(copies)) };
}
