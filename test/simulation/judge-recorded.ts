import { ConfigTimeline } from "./model-configs.ts";
import { ownerOf } from "./model-containers.ts";
import { standsFor } from "./model-search.ts";
import { namedBy, readHash, recordedBeside, recordedHash, workloadResources } from "./model-workload.ts";
import type { HistoryEntry, Recording, StoredObject } from "./record.ts";

/**
 * Judges each configuration that Wave recorded beside the hash as what the Pods read, unless Wave recorded that this is unproven: each Pod
 * that was not being deleted was created when everything that it reads had this content. A container starts after its Pod was created, so
 * what an older Pod has read is not certain. Only the data of the objects is compared: other annotations, and other references, replace no
 * Pods. A removal of keys leaves no time in the API, so a process that started later cannot know it.
 */
export function judgeRecorded({
  history,
  settings,
  lives,
}: Pick<Recording, "history" | "settings" | "lives">): readonly string[] {
  const timeline = new ConfigTimeline(history);
  const objects = new Map<string, StoredObject>();
  const created = new Map<string, number>();
  const violations: string[] = [];
  for (const entry of history) {
    const { resource, before, after, at, by, rv } = entry;
    const object = after ?? before;
    if (object === undefined) continue;
    const { namespace = "", name } = object.metadata;
    const key = `${resource}/${namespace}/${name}`;
    if (after === undefined) objects.delete(key);
    else objects.set(key, after);
    if (resource === "pods" && before === undefined) created.set(object.metadata.uid, rv);
    if (after === undefined || !isRecord(entry)) continue;
    const startedAt = lives.find(({ replica }) => replica === by.replica)?.from ?? 0;
    const beforeStart = history.findLast((each) => each.at < startedAt)?.rv ?? 0;
    for (const [podKey, pod] of objects) {
      const { uid, deletionTimestamp } = pod.metadata;
      if (!podKey.startsWith("pods/") || deletionTimestamp !== undefined) continue;
      if (ownerOf(pod, { objects })?.metadata.uid !== after.metadata.uid) continue;
      const content = (of: string) => {
        const stored = (when: number) => timeline.versions(of)[timeline.at(of, when)]?.object;
        const [versions, from] = [timeline.versions(of), timeline.at(of, created.get(uid) ?? 0)];
        const unseen = versions.slice(from + 1, timeline.at(of, beforeStart) + 1);
        const isRemoved = unseen.some((each, index) => removesKeys(versions[from + index]?.object, each.object));
        const [read, now] = [stored(isRemoved ? rv : (created.get(uid) ?? 0)), stored(rv)] as const;
        return read === undefined || now === undefined ? read : { ...read, metadata: now.metadata };
      };
      if (standsFor(namedBy(after, settings), content).hash !== readHash(after))
        violations.push(`recorded: ${by.replica} on ${key} at ${at} ms: ${podKey} is older than the recorded content`);
    }
  }
  return violations;
}

/** Reports whether a change of an object only removed keys. */
function removesKeys(before: StoredObject | undefined, after: StoredObject | undefined): boolean {
  if (before === undefined || after === undefined) return false;
  const [had, has] = [before, after].map((each) => {
    const { data, binaryData } = each as { readonly data?: object; readonly binaryData?: object };
    return Object.entries({ ...data, ...binaryData }).map((entry) => entry.join("="));
  });
  return had !== undefined && has !== undefined && has.length < had.length && has.every((each) => had.includes(each));
}

/** Reports whether Wave recorded other content as read, in a write that replaces no Pods. */
function isRecord({ resource, by, before, after }: HistoryEntry): boolean {
  if (by.actor !== "wave" || before === undefined || !workloadResources.includes(resource)) return false;
  const beside = recordedBeside(after);
  if (beside === undefined || beside.unproven || recordedHash(before) !== recordedHash(after)) return false;
  return readHash(before) !== beside.hash;
}
