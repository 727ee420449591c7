import { excuseOf } from "./judge-holds.ts";
import { asksForNone, saidOf } from "./model-policy.ts";
import { isComplete } from "./model-progress.ts";
import { namespaceOf, type Stored } from "./model-stored.ts";
import { namedBy, optedIn, recordedHash, workloadResources } from "./model-workload.ts";
import type { Recording, StoredObject } from "./record.ts";

/** After this many removals of a hash by other clients, Wave may have stopped writing it. */
const givenUpAfter = 8;

/**
 * Returns why a workload need not be rolled at a moment at which everything must be correct: people hold the workload or an
 * object that it reads, a change waits for workloads that have not completed it, or another client reverted the writes of
 * Wave again and again. Returns undefined if there is no such reason.
 */
export function excuseIn(
  { at, objects, find }: Stored,
  run: Pick<Recording, "history" | "settings"> & Partial<Pick<Recording, "epoch" | "lives">>,
  workload: StoredObject,
  hash: string | undefined,
): string | undefined {
  const { settings, history, epoch = 0, lives = [] } = run;
  const { pacing } = settings;
  if (pacing === undefined) return undefined;
  const wallOffMs = Math.max(0, ...lives.filter(({ to }) => to === undefined).map((life) => life.wallOffMs));
  const said = saidOf(workload, namespaceOf(workload, objects), pacing);
  const held = excuseOf(said, { hash, at: epoch + at, wallOffMs });
  if (held !== undefined) return held;
  const named = namedBy(workload, settings).map(({ key }) => key);
  if (named.map(find).some((object) => object !== undefined && asksForNone(object))) return "hold of an object";
  if (isStrippedOften()) return "reverted";
  return pacing.maxConcurrent > 0 && !said.alone && waitsForOthers() ? "wave" : undefined;

  function waitsForOthers(): boolean {
    const { namespace, uid } = workload.metadata;
    return [...objects].some(([key, other]) => {
      const [resource = "", where] = key.split("/");
      if (!workloadResources.includes(resource) || where !== namespace || other.metadata.uid === uid) return false;
      if (!optedIn(other, settings, namespaceOf(other, objects)) || isComplete(other)) return false;
      return namedBy(other, settings).some((one) => named.includes(one.key));
    });
  }

  function isStrippedOften(): boolean {
    const stripped = history.filter(
      ({ by, before, after }) =>
        by.actor === "world" &&
        after?.metadata.uid === workload.metadata.uid &&
        recordedHash(before) !== undefined &&
        recordedHash(after) !== recordedHash(before),
    );
    return stripped.length >= givenUpAfter;
  }
}
