import type { Caches } from "../../../cache/caches.ts";
import type { Workload } from "../../../domain/model/workload.ts";
import { rejectPatch } from "../../../domain/patch/workload-patch.ts";
import { isPinned } from "../../../domain/pinning/pin-request.ts";
import { undoSince } from "../../../domain/pinning/undo.ts";
import { policyFor } from "../../../domain/policy/cluster-policy.ts";
import type { SeenPins } from "../record/seen-pins.ts";
import type { ApplyOptions } from "./apply.ts";
import { type WriteResult, writeWorkload } from "./workload-writer.ts";

/**
 * Records what an undo rejects, so that Wave does not roll forward again. Without webhooks nothing recognizes an undo in its request, so the
 * controller compares the pins with those that it saw before. Returns undefined if there is nothing to record.
 */
export async function rejectUndone(
  seen: SeenPins | undefined,
  workload: Workload,
  {
    client,
    caches,
    policy,
    leadership,
  }: Pick<ApplyOptions, "client" | "policy" | "leadership"> & {
    readonly caches: Pick<Caches, "lookup">;
  },
): Promise<WriteResult | { readonly type: "stopped" } | undefined> {
  if (seen === undefined || seen.uid !== workload.uid || !isPinned(workload, policyFor(workload, policy)))
    return undefined;
  const undo = undoSince(workload, seen.pinned, caches.lookup);
  if (undo === undefined || undo.rejected === workload.rejected) return undefined;
  if (leadership.abort.aborted || !leadership.valid()) return { type: "stopped" };
  try {
    return await writeWorkload(client, workload, rejectPatch(workload, undo.rejected), leadership, policy);
  } catch (error) {
    if (leadership.abort.aborted) return { type: "stopped" };
    throw error;
  }
}
