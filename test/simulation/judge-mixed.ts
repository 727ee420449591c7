import { isLeftBehind } from "./judge-returns.ts";
import { ConfigTimeline } from "./model-configs.ts";
import { isRepair } from "./model-rolls.ts";
import { standsFor } from "./model-search.ts";
import { namedBy, readHash, workloadResources } from "./model-workload.ts";
import type { HistoryEntry, Recording, StoredObject } from "./record.ts";

interface Condition {
  readonly type: string;
  readonly status: string;
}

/** Longer than clocks differ, a watch is behind, and the kubelet refreshes files, in milliseconds. */
const aroundMs = 300_000;

/**
 * Judges replacements of mixed Pods: Wave rolls with an unchanged hash only if the configuration differed from that of the hash at a time
 * around the start of a Pod, and never evicts or deletes a Pod that was scheduled, except for a Pod that is not ready and for which an ordered
 * StatefulSet waits after a rollout that failed.
 */
export function judgeMixed({ history, settings }: Recording): readonly string[] {
  const timeline = new ConfigTimeline(history);
  const configTimes = history.filter(({ resource }) => resource === "configmaps" || resource === "secrets");
  const violations: string[] = [];
  for (const entry of history) {
    const { resource, before, after, at, by } = entry;
    const object = after ?? before;
    if (object === undefined) continue;
    const { namespace, name } = object.metadata;
    if (workloadResources.includes(resource)) {
      if (isRepair(entry) && !mayHaveDiffered(object, entry)) {
        violations.push(`mixed: ${by.replica} rolled ${resource} ${namespace}/${name} at ${at} ms without a mixed Pod`);
      }
    }
    if (
      resource === "pods" &&
      by.actor === "wave" &&
      isScheduled(object) &&
      (isReady(object) || !isLeftBehind(object, history, entry.rv))
    )
      violations.push(`mixed: ${by.replica} deleted Pod ${namespace}/${name} at ${at} ms`);
  }
  return violations;

  /**
   * Reports whether the configuration differed from that of the recorded hash at any time since the rollout that wrote the hash, for any pod
   * template since then: others may change what is read in the moment of an edit.
   */
  function mayHaveDiffered(workload: StoredObject, { at, rv }: HistoryEntry): boolean {
    const hash = readHash(workload);
    const versions = history.filter((each) => each.rv < rv && each.after?.metadata.uid === workload.metadata.uid);
    const rolled = versions.findLastIndex(({ before, after }) => readHash(after) !== readHash(before));
    const readers = [workload, ...versions.slice(Math.max(0, rolled)).flatMap(({ after }) => after ?? [])];
    const since = (versions[rolled]?.at ?? 0) - aroundMs;
    const moments = configTimes.filter((each) => each.at >= since && each.at <= at);
    const lookup = (revision: number) => (key: string) => timeline.versions(key)[timeline.at(key, revision)]?.object;
    return readers.some((reader) => {
      const named = namedBy(reader, settings);
      return moments.some((each) => {
        const stood = standsFor(named, lookup(each.rv));
        return stood.missing || stood.hash !== hash;
      });
    });
  }
}

function isReady({ status }: StoredObject): boolean {
  const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly Condition[] };
  return conditions.some((each) => each.type === "Ready" && each.status === "True");
}

function isScheduled({ spec }: StoredObject): boolean {
  return (spec as { readonly nodeName?: string } | undefined)?.nodeName !== undefined;
}
