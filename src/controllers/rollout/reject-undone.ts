import type { Caches } from "../../cache/caches.ts";
import type { Workload } from "../../domain/model/workload.ts";
import { rejectPatch } from "../../domain/patch/workload-patch.ts";
import { isPinned, readAsCopy } from "../../domain/pinning/pin-request.ts";
import { pinnedLookup } from "../../domain/pinning/pinned-lookup.ts";
import { readsLiveContent } from "../../domain/pinning/rejections.ts";
import { type Undo, undoSince } from "../../domain/pinning/undo.ts";
import { policyFor } from "../../domain/policy/cluster-policy.ts";
import type { ApplyOptions } from "./apply/apply.ts";
import { type WriteResult, writeWorkload } from "./apply/workload-writer.ts";
import { type LiveReads, readFailure } from "./freshness/live-reads.ts";
import { readLaterPins } from "./read-later-pins.ts";
import type { Findings } from "./record/workload-record.ts";

/** What {@link rejectUndone} needs. */
export interface RejectUndoneOptions extends Pick<ApplyOptions, "client" | "policy" | "leadership"> {
  readonly caches: Pick<Caches, "lookup">;
  readonly live: Pick<LiveReads, "lookup">;
}

/**
 * Records what an undo rejects, so that Wave does not roll forward again. Without webhooks nothing recognizes an undo in its request, so the
 * controller compares the pins with those that it saw before, or at its first run with those of later revisions. Pins that Wave wrote are no undo, also if the response of the write was lost.
 * ConfigMaps are read live: in a cache that is behind, the own rollout of another leader looks like an undo. Returns undefined if there is
 * nothing to record. "unrestored": another client restored pins, and the copies of these ConfigMaps are gone or lack a key.
 */
export async function rejectUndone(
  { pins, writtenPins }: Pick<Findings, "pins" | "writtenPins">,
  workload: Workload,
  { client, caches, live, policy, leadership }: RejectUndoneOptions,
): Promise<
  | WriteResult
  | { readonly type: "unrestored"; readonly names: readonly string[] }
  | { readonly type: "stopped" }
  | undefined
> {
  const isFirst = pins === undefined && writtenPins === undefined && !readsLiveContent(workload, caches.lookup);
  if (!isFirst && (pins?.uid !== workload.uid || pins.pinned === workload.pinned)) return undefined;
  const ofWorkload = policyFor(workload, policy);
  if (workload.pinned === writtenPins || !isPinned(workload, ofWorkload)) return undefined;
  let undo: Undo | undefined;
  try {
    const seen =
      pins ?? (await readLaterPins(workload, { client, live, policy: ofWorkload, signal: leadership.abort }));
    if (seen === undefined) return undefined;
    const lookup = await live.lookup(workload, [workload.pinned, seen.pinned]);
    const { unusable } = pinnedLookup(workload, lookup, readAsCopy(workload, lookup, ofWorkload));
    if (unusable.length > 0) return { type: "unrestored", names: unusable };
    undo = undoSince(workload, seen, lookup, ofWorkload);
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
