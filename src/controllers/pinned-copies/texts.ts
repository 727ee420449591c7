import { type CopyTotals, keptCopies } from "../../domain/pinning/collect.ts";
import { formatCount } from "../../domain/syntax/wording.ts";
import type { ObjectEvent } from "../../kube/events/event-object.ts";

const mebibyte = 1024 * 1024;

/** The texts of the Events of the collector. */
export const collectorTexts = {
  copiesOverLimit: (objects: string, bytes: string) =>
    `An old revision will lose its pinned copies: the namespace has ${objects} copies (${bytes}), limit ${keptCopies.objects} (${keptCopies.bytes / mebibyte} MiB). Lower revisionHistoryLimit.`,
} as const;

/** Returns the Event on a workload whose old revision loses copies because of the limit. */
export function copiesOverLimitEvent({ objects, bytes }: CopyTotals): Omit<ObjectEvent, "regarding"> {
  return {
    type: "Warning",
    reason: "PinnedCopiesOverLimit",
    message: collectorTexts.copiesOverLimit(formatCount(objects), `${Math.ceil(bytes / mebibyte)} MiB`),
  };
}
