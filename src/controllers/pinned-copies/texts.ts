import { type CopyTotals, keptCopies } from "../../domain/pinning/collect.ts";
import { formatCount, quoted } from "../../domain/syntax/wording.ts";
import type { ObjectEvent } from "../../kube/events/event-object.ts";
import type { LostCopy } from "./read-uses.ts";

const mebibyte = 1024 * 1024;

/** The texts of the Events of the collector. */
export const collectorTexts = {
  copiesOverLimit: (objects: string, bytes: string) =>
    `An old revision will lose its pinned copies: the namespace has ${objects} copies (${bytes}), limit ${keptCopies.objects} (${keptCopies.bytes / mebibyte} MiB). Lower revisionHistoryLimit.`,
  copyLost: (copy: string, source: string) =>
    `New Pods cannot start: pinned copy ${copy} was deleted, and ConfigMap ${source} has other content now. Restore this content, or unpin and restart the workload.`,
} as const;

/** Returns the Event on a workload whose old revision loses copies because of the limit. */
export function copiesOverLimitEvent({ objects, bytes }: CopyTotals): Omit<ObjectEvent, "regarding"> {
  return {
    type: "Warning",
    reason: "PinnedCopiesOverLimit",
    message: collectorTexts.copiesOverLimit(formatCount(objects), `${Math.ceil(bytes / mebibyte)} MiB`),
  };
}

/** Returns the Event on a workload whose pod template names a copy that is gone. */
export function copyLostEvent({ copy, source }: Pick<LostCopy, "copy" | "source">): Omit<ObjectEvent, "regarding"> {
  return { type: "Warning", reason: "PinnedCopyLost", message: collectorTexts.copyLost(quoted(copy), quoted(source)) };
}
