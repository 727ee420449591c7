import { isExcluded } from "../config/tracked-references.ts";
import { findConfig, type Lookup } from "../config/view-of-references.ts";
import type { Workload } from "../model/workload-shape.ts";
import { isValidator, type RolloutPolicy } from "../policy/rollout-policy.ts";
import type { ConfigName, Reference } from "../references/references.ts";
import { parseCause } from "./cause.ts";
import { isEditedSinceRollout } from "./rollout-time.ts";

/** What the last rollout of a workload shows about the content of an object that other workloads are due for. */
export interface AwaitedContent {
  /** Whether its Pods read everything that these workloads read of the object. Otherwise: everything that some of them read. */
  readonly isAll: boolean;
  /** When the object still had other content, in milliseconds since the epoch: the time of the hash of a workload that is due for it. */
  readonly since: number;
}

/** Workloads that read the same parts of the object. */
interface Readers {
  readonly reads: readonly Reference[];
  /** When their hashes were written, in seconds since the epoch. */
  first: number;
  last: number;
}

/**
 * Returns a function that finds whether the last rollout of a workload was with the content of an object that these workloads are due for,
 * whatever the time of the last change is: a label moves this time, too. The hash of that workload must be for what the object contains now.
 * `startedAt` is the time of its last rollout in milliseconds since the epoch. The function returns undefined if that is not known, or if another
 * client wrote the hash: a rollout of Wave before may have been for other content.
 */
export function awaitedContent(
  object: ConfigName,
  due: readonly Workload[],
  lookup: Lookup,
): (workload: Workload, policy: ExclusionPolicy, startedAt: number) => AwaitedContent | undefined {
  const isMarked = findConfig(lookup, object)?.isMarked === true;
  const readsOf = ({ references }: Workload) => references.filter((each) => isContentOf(each, object, isMarked));
  const groups = new Map<string, Readers>();
  for (const workload of due) {
    const { recordedHash, hashWrittenAt } = workload;
    // Without a hash, nothing shows that the object had other content.
    const reads = recordedHash === undefined ? [] : readsOf(workload);
    const key = JSON.stringify(reads.map((each) => [each.reads, each.keys]));
    const group = groups.get(key) ?? { reads, first: hashWrittenAt, last: hashWrittenAt };
    group.first = Math.min(group.first, hashWrittenAt);
    group.last = Math.max(group.last, hashWrittenAt);
    groups.set(key, group);
  }
  return (workload, policy, startedAt) => {
    if (startedAt === 0 || !isHashOfRollout(workload) || isExcluded(workload, policy, object)) return undefined;
    const own = readsOf(workload);
    // If the hash of a due workload is newer than the rollout, it has this content, too: another object made the workload due.
    const shown = [...groups.values()].filter(
      ({ reads, first }) =>
        first * 1000 <= startedAt && reads.length > 0 && reads.every((each) => own.some(includes(each))),
    );
    if (shown.length === 0) return undefined;
    const isAll = shown.length === groups.size && shown.every(({ last }) => last * 1000 <= startedAt);
    return { isAll, since: Math.min(...shown.map(({ first }) => first)) * 1000 };
  };
}

/** Reports whether the last rollout was to the recorded hash. All Pods of a validator count, whoever wrote its pod template. */
function isHashOfRollout(workload: Workload): boolean {
  const { recordedHash, cause } = workload;
  if (isValidator(workload) || !isEditedSinceRollout(workload)) return true;
  // The edit may be one of an annotation.
  return parseCause(recordedHash, cause) !== undefined;
}

/** What decides whether a workload leaves out an object. */
export type ExclusionPolicy = Pick<RolloutPolicy, "excludeConfigMaps" | "excludeSecrets">;

function isContentOf(reference: Reference, { kind, namespace, name }: ConfigName, isMarked: boolean): boolean {
  if (reference.name !== name || reference.kind !== kind || reference.namespace !== namespace) return false;
  return reference.reads !== "existence" && (isMarked || reference.requiresMark !== true);
}

/** Matches references that read at least what this one reads of the same object. Files show everything that variables can read. */
function includes({ reads, keys }: Reference): (other: Reference) => boolean {
  return (other) =>
    (other.reads === "files" || reads === "env") &&
    (other.keys === "all" || (keys !== "all" && keys.every((key) => other.keys.includes(key))));
}
