import { ConfigTimeline, listedRv } from "./model-configs.ts";
import { containersOf, ownerOf, placesOfContainer, placesOfPod } from "./model-containers.ts";
import { standsFor } from "./model-search.ts";
import { namedBy, readHash, recordedBeside, recordedHash, workloadResources } from "./model-workload.ts";
import type { HistoryEntry, Recording, StoredObject } from "./record.ts";

/** How late a watch may show an edit, in milliseconds. */
const lagMs = 1_000;

/**
 * Judges each configuration that Wave recorded beside the hash as what the Pods read, unless Wave recorded that this is unproven. Each Pod
 * that is not being deleted must be right for everything that it reads, in one of these ways:
 *
 * - it got its node when the object had this content;
 * - it waits for the object, which its containers need;
 * - each container that reads the object as variables has started since. What the files of an older Pod show is not certain.
 *
 * A Pod that got its node while the request was on its way is not judged: Wave could not know it.
 * Only the data of the objects is compared: other annotations, and other references, replace no Pods. A removal of keys leaves no time in
 * the API, so a process that first listed the object later cannot know it.
 */
export function judgeRecorded({
  history,
  settings,
  lives,
}: Pick<Recording, "history" | "settings" | "lives">): readonly string[] {
  const timeline = new ConfigTimeline(history);
  const objects = new Map<string, StoredObject>();
  const scheduled = new Map<string, number>();
  const starts = new Map<string, number[]>();
  const violations: string[] = [];
  for (const entry of history) {
    const { resource, before, after, at, by, rv } = entry;
    const object = after ?? before;
    if (object === undefined) continue;
    const { namespace = "", name } = object.metadata;
    const key = `${resource}/${namespace}/${name}`;
    if (after === undefined) objects.delete(key);
    else objects.set(key, after);
    if (resource === "pods") {
      const { uid } = object.metadata;
      if (hasNode(after) && !hasNode(before)) scheduled.set(uid, rv);
      const was = startsOf(before);
      for (const [container, at] of startsOf(after))
        if (was.get(container) !== at) {
          const earlier = starts.get(`${uid}/${container}`) ?? [];
          starts.set(`${uid}/${container}`, [...earlier, rv]);
        }
    }
    if (after === undefined || !isRecord(entry)) continue;
    // A Pod without a node will read later content.
    const sentAt = by.sentAt ?? at;
    const sentRv = history.findLast((each) => each.at <= sentAt)?.rv ?? rv;
    // A watch may not have shown an edit yet when the write was sent.
    const seenRvs = history.flatMap((each) => (each.at <= sentAt && each.at >= sentAt - lagMs ? [each.rv - 1] : []));
    for (const [podKey, pod] of objects) {
      const { uid, deletionTimestamp } = pod.metadata;
      if (!podKey.startsWith("pods/") || deletionTimestamp !== undefined) continue;
      if (ownerOf(pod, { objects })?.metadata.uid !== after.metadata.uid) continue;
      if ((scheduled.get(uid) ?? 0) > sentRv) continue;
      // A share may have ended in an edit that a watch has not shown yet.
      const contentAt = (seenRv: number, metadataRv: number) => (of: string) => {
        const stored = (when: number) => timeline.versions(of)[timeline.at(of, when)]?.object;
        // A container that had not started by then will read later content.
        const startOf = (container: string) =>
          starts.get(`${uid}/${container}`)?.findLast((startedRv) => startedRv <= seenRv) ?? seenRv;
        const readAt = variablesReadAt(pod, of, startOf);
        const readyAt = readAt ?? scheduled.get(uid) ?? seenRv;
        // Kubernetes starts no container of the Pod before a required object exists. Until then, it has read nothing.
        const created = timeline.versions(of).find((each) => each.rv > readyAt && each.object !== undefined)?.rv;
        const since = stored(readyAt) === undefined && needsObject(pod, of) ? Math.min(created ?? rv, rv) : readyAt;
        const listed = listedRv({ history, lives }, by.replica, of);
        const [read, now] = [
          stored(timeline.removesKeys(of, since, listed) ? listed : since),
          stored(metadataRv),
        ] as const;
        return read === undefined || now === undefined ? read : { ...read, metadata: now.metadata };
      };
      const isRight = (seenRv: number) =>
        [rv, seenRv].some((metadataRv) => {
          const { hash } = standsFor(namedBy(after, settings), contentAt(seenRv, metadataRv));
          return hash === readHash(after);
        });
      if (!isRight(sentRv) && !seenRvs.some(isRight))
        violations.push(`recorded: ${by.replica} on ${key} at ${at} ms: ${podKey} is older than the recorded content`);
    }
  }
  return violations;
}

/** Reports whether the containers of a Pod cannot start without an object. */
function needsObject(pod: StoredObject, object: string): boolean {
  return placesOfPod(pod).some((each) => each.needsObject && `${each.kind}/${each.namespace}/${each.name}` === object);
}

/** Returns the earliest start of the containers that read an object, if they read it as variables only. */
function variablesReadAt(
  pod: StoredObject,
  object: string,
  startOf: (container: string) => number,
): number | undefined {
  let readAt: number | undefined;
  for (const { name } of containersOf(pod)) {
    const places = placesOfContainer(pod, name).filter(
      (each) => `${each.kind}/${each.namespace}/${each.name}` === object,
    );
    // A mount with `subPath` may show no key.
    if (places.some(({ through, shown }) => through !== "variables" && shown.length > 0)) return undefined;
    if (places.length > 0) readAt = Math.min(readAt ?? Number.POSITIVE_INFINITY, startOf(name));
  }
  return readAt;
}

function hasNode(pod: StoredObject | undefined): boolean {
  return (pod?.spec as { readonly nodeName?: string } | undefined)?.nodeName !== undefined;
}

interface ContainerStatus {
  readonly name: string;
  readonly restartCount: number;
  readonly state?: { readonly [state: string]: { readonly startedAt?: string } | undefined };
}

/** Returns the containers that have started, each with a text that is another after the next start. */
function startsOf(pod: StoredObject | undefined): ReadonlyMap<string, string> {
  const { initContainerStatuses = [], containerStatuses = [] } = (pod?.status ?? {}) as {
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
  const all = [...initContainerStatuses, ...containerStatuses].flatMap(({ name, restartCount, state }) => {
    const startedAt = (state?.running ?? state?.terminated)?.startedAt;
    return startedAt === undefined ? [] : [[name, `${startedAt} ${restartCount}`] as const];
  });
  return new Map(all);
}

/** Reports whether Wave recorded other content as read, in a write that replaces no Pods. */
function isRecord({ resource, by, before, after }: HistoryEntry): boolean {
  if (by.actor !== "wave" || before === undefined || !workloadResources.includes(resource)) return false;
  const beside = recordedBeside(after);
  if (beside === undefined || beside.unproven || recordedHash(before) !== recordedHash(after)) return false;
  return readHash(before) !== beside.hash;
}
