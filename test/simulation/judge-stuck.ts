import { isOnlyStuck } from "./model-stuck.ts";
import type { Recording } from "./record.ts";

/** A process that has read the Pods in the last time knows that they wait: its reads may fail for as long as the weather is bad. */
const knownMs = 240_000;

/** Judges failures: a rollout whose Pods only wait for a node is stuck, and no Event reports that it failed. */
export function judgeStuck({ history, epoch }: Recording): readonly string[] {
  return history.flatMap(({ resource, at, before, after }) => {
    if (resource !== "events" || before !== undefined || after === undefined) return [];
    const {
      involvedObject,
      reason,
      message = "",
    } = after as {
      readonly involvedObject?: { readonly uid?: string };
      readonly reason?: string;
      readonly message?: string;
    };
    if (reason !== "RolloutFailed" || message.includes(" restarted ")) return [];
    const isWrong = isOnlyStuck(involvedObject?.uid ?? "", at, knownMs, epoch, history);
    return isWrong
      ? [`stuck: ${after.metadata.name} reports a failure at ${at} ms, and its Pods only wait for a node`]
      : [];
  });
}
