import { isExcluded } from "../config/tracked-references.ts";
import { findConfig, type Lookup } from "../config/view-of-references.ts";
import type { Workload } from "../model/workload-shape.ts";
import type { Rules } from "../policy/rules.ts";
import { type ConfigName, configKey, type Reference } from "../references/references.ts";
import { parseCause } from "./cause.ts";
import { hasMark, isEditedSinceRollout } from "./rollout-time.ts";

/** What the last rollout of a workload shows about the content of an object that other workloads are due for. */
export interface AwaitedContent {
  /** Whether its Pods read everything that these workloads read of the object. Otherwise: everything that some of them read. */
  readonly isAll: boolean;
  /**
   * A rollout before this time had other content of the object, in milliseconds since the epoch: the time of the hash of a workload that is due for it,
   * or of the last rollout if a change of the object caused it.
   */
  readonly since: number;
}

/** How many more keys may be compared. A tenant chooses how many keys its workloads read, and how many of them differ. */
export interface KeysBudget {
  left: number;
}

/** Keys of an object, or all of them. */
type Keys = "all" | ReadonlySet<string>;

/** What a workload reads of an object. Files show everything that variables can read. */
interface Content {
  readonly files: Keys;
  readonly filesAndVariables: Keys;
}

/** Workloads that read the same parts of the object. */
interface Readers {
  /** Undefined if they read nothing of it. */
  readonly content: Content | undefined;
  /** When their hashes were written, in seconds since the epoch. */
  first: number;
  last: number;
}

/**
 * Returns a function that finds whether the last rollout of a workload was with the content of an object that these workloads are due for,
 * whatever the time of the last change is: a label moves this time, too. The hash of that workload must be for what the object contains now.
 * `startedAt` is the time of its last rollout in milliseconds since the epoch. The function returns undefined if that is not known, if another
 * client wrote the hash (a rollout of Wave before may have been for other content), or if no key may be compared any more.
 */
export function awaitedContent(
  object: ConfigName,
  due: readonly Workload[],
  lookup: Lookup,
  budget: KeysBudget,
): (workload: Workload, rules: Exclusions, startedAt: number) => AwaitedContent | undefined {
  const isMarked = findConfig(lookup, object)?.isMarked === true;
  const readsOf = ({ references }: Workload) => references.filter((each) => isContentOf(each, object, isMarked));
  const groups = new Map<string, Readers>();
  for (const workload of due) {
    if (budget.left < 0) break;
    const { recordedHash, hashWrittenAt } = workload;
    // Without a hash, nothing shows that the object had other content.
    const reads = recordedHash === undefined ? [] : readsOf(workload);
    const key = JSON.stringify(reads.map((each) => [each.reads, each.keys]));
    budget.left -= countKeys(reads);
    const group = groups.get(key) ?? { content: contentOf(reads), first: hashWrittenAt, last: hashWrittenAt };
    group.first = Math.min(group.first, hashWrittenAt);
    group.last = Math.max(group.last, hashWrittenAt);
    groups.set(key, group);
  }
  return (workload, rules, startedAt) => {
    if (budget.left < 0 || startedAt === 0) return undefined;
    if (!isHashOfRollout(workload) || isExcluded(workload, rules, object)) return undefined;
    const reads = readsOf(workload);
    budget.left -= groups.size + countKeys(reads);
    const own = contentOf(reads);
    // If the hash of a due workload is newer than the rollout, it has this content, too: another object made the workload due.
    const shown = [...groups.values()].filter(
      ({ content, first }) => first * 1000 <= startedAt && includes(own, content, budget),
    );
    if (shown.length === 0 || budget.left < 0) return undefined;
    const isAll = shown.length === groups.size && shown.every(({ last }) => last * 1000 <= startedAt);
    const since = Math.min(...shown.map(({ first }) => first)) * 1000;
    return { isAll, since: hasMark(workload) && isCausedBy(object, workload) ? startedAt : since };
  };
}

/** Reports whether the last rollout was to the recorded hash. An edit since may be one of an annotation, which the cause shows. */
function isHashOfRollout(workload: Workload): boolean {
  return !isEditedSinceRollout(workload) || parseCause(workload.recordedHash, workload.cause) !== undefined;
}

/** Reports whether a change of an object caused the last rollout of a workload. */
function isCausedBy(object: ConfigName, { recordedHash, cause }: Workload): boolean {
  const edits = parseCause(recordedHash, cause)?.edits ?? [];
  return edits.some((edit) => configKey(edit) === configKey(object));
}

/** What decides whether a workload leaves out an object. */
type Exclusions = Pick<Rules, "excludeConfigMaps" | "excludeSecrets">;

function isContentOf(reference: Reference, { kind, namespace, name }: ConfigName, isMarked: boolean): boolean {
  if (reference.name !== name || reference.kind !== kind || reference.namespace !== namespace) return false;
  return reference.reads !== "existence" && (isMarked || reference.requiresMark !== true);
}

function countKeys(reads: readonly Reference[]): number {
  return reads.reduce((count, { keys }) => count + (keys === "all" ? 1 : keys.length), 0);
}

function contentOf(reads: readonly Reference[]): Content | undefined {
  const files = reads.filter((each) => each.reads === "files");
  return reads.length === 0 ? undefined : { files: keysOf(files), filesAndVariables: keysOf(reads) };
}

function keysOf(reads: readonly Reference[]): Keys {
  const keys = new Set<string>();
  for (const each of reads) {
    if (each.keys === "all") return "all";
    for (const key of each.keys) keys.add(key);
  }
  return keys;
}

/** Reports whether a workload reads at least the content that others read. Both are of the same object. */
function includes(own: Content | undefined, others: Content | undefined, budget: KeysBudget): boolean {
  if (own === undefined || others === undefined) return false;
  return (
    includesKeys(own.files, others.files, budget) &&
    includesKeys(own.filesAndVariables, others.filesAndVariables, budget)
  );
}

function includesKeys(own: Keys, others: Keys, budget: KeysBudget): boolean {
  if (own === "all" || others === "all") return own === "all";
  if (others.size > own.size) return false;
  budget.left -= others.size;
  return budget.left >= 0 && others.isSubsetOf(own);
}
