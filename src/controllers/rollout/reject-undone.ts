import type { Workload } from "../../domain/model/workload.ts";
import { rejectPatch } from "../../domain/patch/workload-patch.ts";
import { isPinned } from "../../domain/pinning/pin-request.ts";
import { type Undo, undoSince } from "../../domain/pinning/undo.ts";
import { policyFor } from "../../domain/policy/cluster-policy.ts";
import type { ApplyOptions } from "./apply/apply.ts";
import { type WriteResult, writeWorkload } from "./apply/workload-writer.ts";
import { type LiveReads, readFailure } from "./freshness/live-reads.ts";
import type { Findings } from "./record/workload-record.ts";

/** What {@link rejectUndone} needs. */
export interface RejectUndoneOptions extends Pick<ApplyOptions, "client" | "policy" | "leadership"> {
  readonly live: Pick<LiveReads, "lookup">;
}

/**
 * Records what an undo rejects, so that Wave does not roll forward again. Without webhooks nothing recognizes an undo in its request, so the
 * controller compares the pins with those that it saw before. Pins that Wave wrote are no undo, also if the response of the write was lost.
 * ConfigMaps are read live: in a cache that is behind, the own rollout of another leader looks like an undo. Returns undefined if there is
 * nothing to record.
 */
export async function rejectUndone(
  { pins: seen, writtenPins }: Pick<Findings, "pins" | "writtenPins">,
  workload: Workload,
  { client, live, policy, leadership }: RejectUndoneOptions,
): Promise<WriteResult | { readonly type: "stopped" } | undefined> {
  if (seen === undefined || seen.uid !== workload.uid || seen.pinned === workload.pinned) return undefined;
  if (workload.pinned === writtenPins || !isPinned(workload, policyFor(workload, policy))) return undefined;
  let undo: Undo | undefined;
  try {
    undo = undoSince(workload, seen, await live.lookup(workload, [workload.pinned, seen.pinned]));
  } catch (error) {
    return leadership.abort.aborted ? { type: "stopped" } : readFailure(error, workload);
  }
  if (undo === undefined || undo.rejected === workload.rejected) return undefined;
  if (leadership.abort.aborted || !leadership.valid()) return { type: "stopped" };
  try {
    return await writeWorkload(client, workload, rejectPatch(workload, undo.rejected), leadership, policy);
  } catch (error) {
    if (leadership.abort.aborted) return { type: "stopped" };
    throw error;
  }
}
