import { knowsMs } from "./judge-containers.ts";
import { holdingsOf } from "./judge-leadership.ts";
import { ConfigTimeline } from "./model-configs.ts";
import { containersOf, hashOfPod, ownerOf, placesOfContainer } from "./model-containers.ts";
import { isRepair } from "./model-rolls.ts";
import { standsFor } from "./model-search.ts";
import { namedBy, recordedHash, workloadResources } from "./model-workload.ts";
import type { ContainerStart, HistoryEntry, Recording, StoredObject } from "./record.ts";

/** The margins around a start of a container within which Wave cannot know what it has read: clocks, and the kubelet for files. */
const marginMs = 8_000;
const filesMs = 120_000;

/**
 * Returns the rollouts for mixed Pods without need: none of their containers started at a time around which the configuration differed
 * from that of the recorded hash. Judged only while no faults happen and one leader has seen all of it.
 */
export function judgeReplacements(run: Recording): readonly string[] {
  const { containers, history } = run;
  if (containers === undefined) return [];
  const judge = new ReplacementsJudge(run, containers.starts);
  const objects = new Map<string, StoredObject>();
  const violations: string[] = [];
  for (const entry of history) {
    const { resource, before, after, at, by } = entry;
    const object = after ?? before;
    if (object === undefined) continue;
    const { namespace = "", name } = object.metadata;
    const key = `${resource}/${namespace}/${name}`;
    if (workloadResources.includes(resource) && isRepair(entry) && before !== undefined) {
      const pods = [...objects].filter(
        ([each, pod]) => each.startsWith("pods/") && ownerOf(pod, { objects })?.metadata.uid === before.metadata.uid,
      );
      // Without running Pods, the write replaces none.
      const isRunning = pods.some(([, pod]) => pod.metadata.deletionTimestamp === undefined);
      if (isRunning && !pods.some(([, pod]) => judge.mayBeMixed(pod, before, entry)))
        violations.push(
          `containers: ${by.replica} rolled ${key} at ${at} ms, whose Pods all read the right configuration`,
        );
    }
    if (after === undefined) objects.delete(key);
    else objects.set(key, after);
  }
  return violations;
}

class ReplacementsJudge {
  readonly #run: Recording;
  readonly #starts: readonly ContainerStart[];
  readonly #timeline: ConfigTimeline;
  /** The changes of configuration. */
  readonly #changes: readonly HistoryEntry[];
  readonly #holdings: ReturnType<typeof holdingsOf>;

  constructor(run: Recording, starts: readonly ContainerStart[]) {
    this.#run = run;
    this.#starts = starts;
    this.#timeline = new ConfigTimeline(run.history);
    this.#changes = run.history.filter(({ resource }) => resource === "configmaps" || resource === "secrets");
    this.#holdings = holdingsOf(run.history);
  }

  /** Reports whether a container of a Pod started around a time in which the configuration differed from that of the hash. */
  mayBeMixed(pod: StoredObject, workload: StoredObject, { at, rv, by }: HistoryEntry): boolean {
    const { calmAt, lives, settings } = this.#run;
    const hash = recordedHash(workload);
    if (hash !== hashOfPod(pod)) return false;
    const named = namedBy(workload, settings);
    const slackMs = marginMs + (lives.find(({ replica }) => replica === by.replica)?.wallOffMs ?? 0);
    const leadsFrom = this.#holdings.findLast((each) => each.from <= at)?.from ?? 0;
    const own = this.#starts.filter((each) => each.pod === pod.metadata.uid && each.at <= at);
    return containersOf(pod).some(({ name }) => {
      const start = own.findLast(({ container }) => container === name);
      const places = placesOfContainer(pod, name);
      if (start === undefined || (places.length === 0 && !hasExtras(workload))) return false;
      const hasFiles = places.some(({ through }) => through === "files");
      // Files of a volume are as old as the volume at most.
      const filesFrom = hasFiles ? Math.max(own[0]?.at ?? 0, start.at - filesMs) : start.at;
      const from = filesFrom - slackMs;
      // Faults, and an earlier leader, make differences longer for Wave.
      if (Math.max(calmAt, leadsFrom) + knowsMs > from) return true;
      const changes = this.#changes.filter((each) => each.rv < rv && each.at <= start.at + slackMs);
      const first = changes.findLastIndex((each) => each.at <= from);
      return changes.slice(Math.max(0, first)).some((change) => {
        const stood = standsFor(
          named,
          (key) => this.#timeline.versions(key)[this.#timeline.at(key, change.rv)]?.object,
        );
        return stood.missing || stood.hash !== hash;
      });
    });
  }
}

/** Reports whether each container may read objects that only annotations name. */
function hasExtras({ metadata }: StoredObject): boolean {
  return Object.keys(metadata.annotations ?? {}).some((name) => name.startsWith("wave.pusher.com/extra-"));
}
