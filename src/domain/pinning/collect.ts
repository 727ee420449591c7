import type { OwnerReference } from "#kubernetes";
import { formatCount } from "../syntax/names.ts";

/** A stored pinned copy. */
export interface StoredCopy {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** The time of its creation, in RFC 3339. */
  readonly createdAt: string;
  /** The size of its content, in bytes. */
  readonly bytes: number;
  readonly owners: readonly OwnerReference[];
  /** The mark of the collector: the time since when nothing uses the copy, as its annotation has it; undefined without a mark. */
  readonly unusedSince: string | undefined;
}

/** What uses the copies of a namespace, by the names of the copies. */
export interface CopyUses {
  /**
   * The copies that a Pod reads or that a new Pod would read: those of Pods that have not finished, of pod templates, of the current and
   * update revisions of StatefulSets, and of ReplicaSets with replicas. They are never deleted.
   */
  readonly running: ReadonlySet<string>;
  /** The copies of old revisions. They are deleted above {@link keptCopies}, oldest first. */
  readonly old: ReadonlySet<string>;
  /** The workloads whose pod template names a copy, without those that are being deleted. */
  readonly workloads: ReadonlyMap<string, readonly OwnerReference[]>;
}

/** A number of copies and their size. */
interface CopyTotals {
  readonly objects: number;
  readonly bytes: number;
}

/** The name and the size of a stored copy. */
export type CopySize = Pick<StoredCopy, "name" | "bytes">;

/** Limits of the pinned copies in one namespace. Above them, no copy is stored. */
export const copyLimits: CopyTotals = { objects: 200, bytes: 20 * 1024 * 1024 };

/**
 * Above these totals the copies of old revisions are deleted. They are lower than {@link copyLimits}, so that there is room for new copies
 * while the old ones wait for their deletion.
 */
export const keptCopies: CopyTotals = { objects: 150, bytes: 15 * 1024 * 1024 };

/** The most owners of a copy. A copy with more users has no owner: see {@link ownersInUse}. */
export const maxCopyOwners = 50;

/** How long a copy is marked as unused before it is deleted, in milliseconds: far longer than any write that is on its way. */
export const unusedMs = 3_600_000;

/** A mark that is further in the future is replaced, in milliseconds: the clock that wrote it was wrong. */
const maxClockErrorMs = 3_600_000;

/** What the collector does with one copy. A copy that has no action stays as it is. */
export type CopyAction =
  /** Writes the mark, or another mark. `excess`: an old revision uses the copy, and the namespace has too many copies. */
  | { readonly type: "mark"; readonly copy: StoredCopy; readonly excess: boolean }
  /** Removes the mark if there is one, and writes the owners unless they are undefined. */
  | { readonly type: "use"; readonly copy: StoredCopy; readonly owners: readonly OwnerReference[] | undefined }
  | { readonly type: "delete"; readonly copy: StoredCopy };

/** The actions for a namespace, and when to look again. */
export interface CollectPlan {
  readonly actions: readonly CopyAction[];
  /** The delay until a marked copy can be deleted, in milliseconds; undefined if there is no such copy. */
  readonly dueInMs: number | undefined;
}

/** The moment of a decision. */
export interface CollectMoment {
  /** The time of the wall clock, in milliseconds since the epoch. */
  readonly now: number;
  /**
   * Returns how much longer this process must see the mark of a copy, in milliseconds; 0 or less if it has seen it long enough. The clock
   * that wrote the mark may have been wrong.
   */
  readonly unseenMs: (copy: StoredCopy) => number;
  /** Default: {@link unusedMs}. */
  readonly waitMs?: number;
  /** Default: {@link keptCopies}. */
  readonly kept?: CopyTotals;
}

/**
 * Returns what to do with the copies of a namespace. Only use decides: a copy without an owner is normal, for example after
 * `kubectl delete --cascade=orphan` or when a backup was restored. A copy that nothing uses is first marked. It is deleted when the mark is
 * old enough and the copies and their uses have been read again. A client that takes a marked copy into use removes the mark first, which
 * changes the resourceVersion, so that a late deletion fails.
 */
export function collectCopies(copies: readonly StoredCopy[], uses: CopyUses, moment: CollectMoment): CollectPlan {
  const excess = excessCopies(copies, uses, moment.kept ?? keptCopies);
  const actions: CopyAction[] = [];
  let dueInMs: number | undefined;
  for (const copy of copies) {
    const isOld = uses.old.has(copy.name);
    if (uses.running.has(copy.name) || (isOld && !excess.has(copy))) {
      const owners = ownersInUse(copy.owners, uses.workloads.get(copy.name) ?? []);
      if (copy.unusedSince !== undefined || owners !== undefined) actions.push({ type: "use", copy, owners });
      continue;
    }
    const waitMs = remainingMs(copy, moment);
    if (waitMs === undefined) actions.push({ type: "mark", copy, excess: isOld });
    else if (waitMs <= 0) actions.push({ type: "delete", copy });
    else dueInMs = Math.min(waitMs, dueInMs ?? waitMs);
  }
  return { actions, dueInMs };
}

/** Returns how much longer a marked copy must wait for its deletion; undefined if it has no mark, or none that can be right. */
function remainingMs(copy: StoredCopy, { now, unseenMs, waitMs = unusedMs }: CollectMoment): number | undefined {
  const since = Date.parse(copy.unusedSince ?? "");
  if (Number.isNaN(since) || since > now + maxClockErrorMs) return undefined;
  return Math.max(since + waitMs - now, unseenMs(copy));
}

/** Returns the copies of old revisions that are too many, oldest first: those that are marked already, then by their creation. */
function excessCopies(
  copies: readonly StoredCopy[],
  { running, old }: CopyUses,
  kept: CopyTotals,
): ReadonlySet<StoredCopy> {
  const used = copies.filter(({ name }) => running.has(name) || old.has(name));
  const total = { ...totalsOf(used) };
  const rank = ({ unusedSince, createdAt, name }: StoredCopy) => [unusedSince ?? "~", createdAt, name].join(" ");
  const candidates = used.filter(({ name }) => !running.has(name)).sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
  const excess = new Set<StoredCopy>();
  for (const copy of candidates) {
    if (total.objects <= kept.objects && total.bytes <= kept.bytes) break;
    excess.add(copy);
    total.objects -= 1;
    total.bytes -= copy.bytes;
  }
  return excess;
}

/**
 * Returns the owners that a copy is to have while these workloads use it; undefined if it has them. Kubernetes deletes an object together with
 * its last owner, so either each user is an owner, or the copy has no owner and only the collector deletes it. A copy without owners stays
 * without: it may have users that are not known here. `undefined` as a user is a workload that cannot be an owner, because it may not exist
 * yet.
 */
export function ownersInUse(
  owners: readonly OwnerReference[],
  users: readonly (OwnerReference | undefined)[],
): readonly OwnerReference[] | undefined {
  if (owners.length === 0) return undefined;
  const known = new Set(owners.map(({ uid }) => uid));
  const missing = users.filter((user) => user === undefined || !known.has(user.uid));
  if (missing.length === 0) return undefined;
  const added = missing.filter((user) => user !== undefined);
  return added.length < missing.length || owners.length + added.length > maxCopyOwners ? [] : [...owners, ...added];
}

/** Returns the number and the size of copies. */
export function totalsOf(copies: readonly Pick<StoredCopy, "bytes">[]): CopyTotals {
  return { objects: copies.length, bytes: copies.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** Reports whether a namespace with these copies has no room for one more of this size. */
export function exceedsCopyLimit(copies: readonly Pick<StoredCopy, "bytes">[], newBytes: number): boolean {
  const { objects, bytes } = totalsOf(copies);
  return objects + 1 > copyLimits.objects || bytes + newBytes > copyLimits.bytes;
}

/** The text for the owner of a workload whose copies cannot be stored because of {@link exceedsCopyLimit}. */
export const copyLimitText = `the namespace has the most pinned copies that Wave stores, ${formatCount(copyLimits.objects)} or ${copyLimits.bytes / 1024 / 1024} MiB; delete old revisions, or lower revisionHistoryLimit`;
