import { workloadPath } from "../../cache/workloads/workload-reads.ts";
import type { WorkloadObject } from "../../domain/model/workload-references.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import { rejectPatch } from "../../domain/patch/workload-patch.ts";
import { isPinned, readAsCopy } from "../../domain/pinning/pin-request.ts";
import { pinnedLookup } from "../../domain/pinning/pinned-lookup.ts";
import { carriedRejections, undoSince } from "../../domain/pinning/rejections.ts";
import { type Rules, rulesFor } from "../../domain/policy/rules.ts";
import { pinnedAnnotation } from "../../domain/references/annotations.ts";
import { isWrittenByWave } from "../../domain/references/field-managers.ts";
import type { LeaderParts } from "../leader-context.ts";
import { type WriteResult, writeWorkload } from "./apply/workload-writer.ts";
import { type LiveReads, type ReadFailure, readFailure } from "./freshness/live-plan.ts";
import { type Findings, hasOtherTemplate, type Writable } from "./memory/workload-memory.ts";
import type { ReconcileOptions, ReconcileRun } from "./plan-workload.ts";

interface UpdateRejectionsOptions
  extends LeaderParts<"client" | "policy" | "leadership", "lookup">,
    Pick<ReconcileOptions, "webhooks">,
    Pick<ReconcileRun, "takePermit"> {
  readonly live: Pick<LiveReads, "lookup">;
}

/** `unusable`: the ConfigMaps that Pods are to read live, because the copies that the pod template names are gone or lack a key. */
type Rejections = Pick<Workload, "rejected"> & { readonly unusable: readonly string[] };

/**
 * Records what a workload rejects after others changed its pod template, as the webhook does in a request: an undo rejects the content that it
 * undoes, so that Wave does not roll forward again, and a template that reads other keys rejects the same content as before. Pins that Wave
 * wrote are no undo, also if the response of the write was lost. ConfigMaps are read live: in a cache that is behind, the own rollout of
 * another leader looks like an undo. Returns the write of the annotation; undefined if there was nothing to write.
 */
export async function updateRejections(
  findings: Writable<Pick<Findings, "pins" | "writtenPins" | "unrestored">>,
  workload: Workload,
  options: UpdateRejectionsOptions,
): Promise<WriteResult | ReadFailure | { readonly type: "permitPending" } | undefined> {
  const { leadership } = options;
  const rules = rulesFor(workload, options.policy);
  if (!isPinned(workload, rules)) return undefined;
  let found: Rejections | undefined;
  try {
    found = await findRejections(findings, workload, rules, options);
  } catch (error) {
    return readFailure(error, workload, leadership);
  }
  if (found === undefined) return undefined;
  const { rejected, unusable } = found;
  const { uid, pinned } = workload;
  if (unusable.length > 0) findings.unrestored = { uid, pinned, names: unusable };
  if (rejected === workload.rejected) return undefined;
  if (leadership.abort.aborted || !leadership.valid()) return { type: "stopped" };
  if (!options.takePermit()) return { type: "permitPending" };
  return writeWorkload(workload, rejectPatch(workload, rejected), options);
}

/** Returns what the workload rejects now; undefined if its pod template is the one that was seen before, or one that Wave wrote. */
async function findRejections(
  { pins, writtenPins }: Pick<Findings, "pins" | "writtenPins">,
  workload: Workload,
  rules: Rules,
  { client, caches, live, leadership, webhooks }: UpdateRejectionsOptions,
): Promise<Rejections | undefined> {
  if (pins !== undefined && !hasOtherTemplate(pins, workload)) return undefined;
  if (pins !== undefined && pins.pinned === workload.pinned) {
    const before = { ...workload, references: pins.references };
    return carriedRejections(workload, [workload.rejected], before, await live.lookup(workload), () => false);
  }
  if (pins === undefined || workload.pinned === writtenPins) return undefined;
  if (webhooks) {
    const undo = undoSince(workload, pins, caches.lookup, rules);
    if (undo === undefined || undo.rejected === workload.rejected) return undefined;
  }
  // A cache that was behind shows the rollouts of another leader late, as one change.
  const path = workloadPath(workload);
  const stored = await client.request<WorkloadObject>({ method: "GET", path, signal: leadership.abort });
  if (hasPinsOfWave(workload, stored)) return undefined;
  const lookup = await live.lookup(workload, [workload.pinned, pins.pinned]);
  const { unusable } = pinnedLookup(workload, lookup, readAsCopy(workload, lookup, rules));
  if (unusable.length > 0) return { rejected: workload.rejected, unusable };
  const undo = undoSince(workload, pins, lookup, rules);
  // The webhook writes pins, too. Then the content differs from them only if it was edited after the pod template.
  const isOlder = (name: string) => {
    const { changedAt } = lookup("ConfigMap", workload.namespace, name) ?? {};
    return changedAt !== undefined && changedAt < workload.templateEditedAt;
  };
  if (webhooks && !undo?.names.every(isOlder)) return undefined;
  return { rejected: workload.rejected, unusable, ...undo };
}

/** Reports whether Wave wrote the pins of a workload. `stored` is the stored workload. */
function hasPinsOfWave({ row }: Workload, { metadata = {} }: WorkloadObject): boolean {
  const template = row.template.split("/").slice(1);
  return isWrittenByWave(metadata, [...template, "metadata", "annotations", pinnedAnnotation]);
}
