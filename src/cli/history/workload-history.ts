import type { Config } from "../../domain/config/digest.ts";
import type { Workload, WorkloadObject } from "../../domain/model/workload.ts";
import { parseRejected, rejectionDigest } from "../../domain/pinning/rejections.ts";
import type { PacingFlags } from "../../domain/policy/pacing-flags.ts";
import { configKey } from "../../domain/references/references.ts";
import type { ReadConfig, ReadConfigs } from "../cluster/read/configs.ts";
import type { ReadPods, RunningPod } from "../cluster/read/pods.ts";
import { hasSameKeys, type KeyChanges, keyChanges, withKeys } from "../cluster/revisions/copy-changes.ts";
import type { StoredRevision } from "../cluster/revisions/read-revisions.ts";
import { rolloutFailure } from "../cluster/states/assess-state.ts";
import { type PodPinning, podPinning } from "../cluster/states/pod-pinning.ts";

/** The states of a revision, with their meanings, in the order of the docs. */
export const revisionStates = {
  current: "New Pods are created from this revision, and its rollout is complete.",
  rollingOut: "Kubernetes is replacing Pods by those of this revision.",
  failed: "The rollout of this revision failed.",
  rolledBack: "Its content was rolled back. Wave does not roll to it again.",
  old: "A later revision replaced this one.",
} as const;

/** A state of {@link revisionStates}. */
export type RevisionState = keyof typeof revisionStates;

/** What changed in one ConfigMap between a revision and the revision before it. Names and keys, never values. */
export interface ConfigMapChange extends KeyChanges {
  readonly name: string;
  /**
   * "pinned", "unpinned": only one of the two revisions has a copy. "unknown": a copy is gone or could not be read.
   */
  readonly how: "changed" | "pinned" | "unpinned" | "unknown";
  /** The field manager that wrote this content; null if neither the ConfigMap nor the copy records it. */
  readonly editedBy: string | null;
}

/** One revision of a workload; docs/commands.md promises its fields. */
export interface HistoryEntry {
  readonly revision: number;
  /** The ReplicaSet or ControllerRevision. */
  readonly name: string;
  /** RFC 3339; null if unknown. */
  readonly createdAt: string | null;
  readonly hash: string | null;
  readonly state: RevisionState;
  /** The number of Pods that run it; null if unknown. */
  readonly pods: number | null;
  /** How these Pods read the copies; null if the revision is not pinned, or the Pods are unknown. */
  readonly pinning: Omit<PodPinning, "why"> | null;
  /** The copies, by the names of their ConfigMaps; null if the revision is not pinned. */
  readonly copies: Readonly<Record<string, string>> | null;
  /**
   * The reason for the revision. "first": no earlier revision is stored. "configMaps": see `changes`. "template": only the pod template changed.
   * "other": Secrets or live configuration changed. "unknown": one of the two revisions is not pinned.
   */
  readonly cause: "first" | "configMaps" | "template" | "other" | "unknown";
  readonly changes: readonly ConfigMapChange[];
}

/** What a history depends on. */
export interface HistoryFacts {
  readonly object: WorkloadObject;
  readonly workload: Workload;
  readonly flags: PacingFlags;
  readonly now: number;
  /** The oldest first. */
  readonly revisions: readonly StoredRevision[];
  /** The copies of all revisions and the ConfigMaps. */
  readonly read: ReadConfigs;
  readonly pods: ReadPods;
}

/** Returns the revisions of a workload with what changed in each, the oldest first. */
export function workloadHistory(facts: HistoryFacts): readonly HistoryEntry[] {
  const { workload, revisions, pods } = facts;
  const running = pods.state === "read" ? pods.of(workload) : undefined;
  return revisions.map((revision, index) => {
    const before = revisions[index - 1];
    const changes = changesOf(before, revision, facts);
    const own = running?.filter((pod) => isOf(pod, workload, revision));
    const pinning = own === undefined ? null : podPinning({ ...workload, pinned: revision.pinned }, own);
    return {
      revision: revision.revision,
      name: revision.name,
      createdAt: revision.createdAt ?? null,
      hash: revision.hash ?? null,
      state: stateOf(revision, facts),
      pods: own?.length ?? null,
      pinning: pinning && withoutWhy(pinning),
      copies: revision.pins === undefined ? null : Object.fromEntries(revision.pins),
      cause: causeOf(before, revision, changes),
      changes,
    };
  });
}

function withoutWhy({ pinned, partlyPinned, unpinned }: PodPinning): Omit<PodPinning, "why"> {
  return { pinned, partlyPinned, unpinned };
}

/** The label of a Pod is the whole name of its revision, or the part behind the name of the workload. */
function isOf({ revision }: RunningPod, { name }: Workload, stored: StoredRevision): boolean {
  return revision !== undefined && (stored.name === revision || stored.name === `${name}-${revision}`);
}

function stateOf(revision: StoredRevision, facts: HistoryFacts): RevisionState {
  const { workload, revisions, read } = facts;
  if (revision === revisions.at(-1)) {
    if (rolloutFailure(facts) !== undefined) return "failed";
    return workload.progress.state === "progressing" ? "rollingOut" : "current";
  }
  return isRejected(revision, workload, read) ? "rolledBack" : "old";
}

/** Reports whether a copy of the revision has content that was rolled back. */
function isRejected({ pins }: StoredRevision, workload: Workload, read: ReadConfigs): boolean {
  return parseRejected(workload.rejected)
    .entries()
    .some(([name, digest]) => {
      const copy = presentIn(read, workload, pins?.get(name))?.config;
      return copy !== undefined && rejectionDigest(workload, () => ({ ...copy, name }), name) === digest;
    });
}

function causeOf(
  before: StoredRevision | undefined,
  after: StoredRevision,
  changes: readonly ConfigMapChange[],
): HistoryEntry["cause"] {
  if (before === undefined) return "first";
  if (changes.length > 0) return "configMaps";
  if (before.hash === after.hash) return "template";
  return before.pins === undefined || after.pins === undefined ? "unknown" : "other";
}

function changesOf(
  before: StoredRevision | undefined,
  after: StoredRevision,
  facts: HistoryFacts,
): readonly ConfigMapChange[] {
  // Between a revision without pins and one with pins, nothing is known about the content.
  if (before?.pins === undefined || after.pins === undefined) return [];
  const [old, current] = [before.pins, after.pins];
  const names = [...new Set([...old.keys(), ...current.keys()])].sort();
  return names.flatMap((name) => {
    const [from, to] = [old.get(name), current.get(name)];
    return from === to ? [] : [changeOf(name, from, to, facts, after)];
  });
}

const noKeys: KeyChanges = { added: [], removed: [], changed: [] };

function changeOf(
  name: string,
  from: string | undefined,
  to: string | undefined,
  facts: HistoryFacts,
  revision: StoredRevision,
): ConfigMapChange {
  const { workload, read } = facts;
  const editedBy = to === undefined ? null : editorOf(name, to, revision, facts);
  if (from === undefined) return { name, how: "pinned", ...noKeys, editedBy };
  if (to === undefined) return { name, how: "unpinned", ...noKeys, editedBy };
  const [before, after] = [presentIn(read, workload, from), presentIn(read, workload, to)];
  if (before === undefined || after === undefined) return { name, how: "unknown", ...noKeys, editedBy };
  return { name, how: "changed", ...keyChanges(before.config, after.config), editedBy };
}

/**
 * Returns who wrote the content of a copy. The ConfigMap records its last editor: while it has that content, the newest revision with the copy
 * is the one that this edit caused. The copy records who wrote the content first, which is true for the oldest revision that has the copy.
 */
function editorOf(
  name: string,
  copy: string,
  revision: StoredRevision,
  { workload, revisions, read }: HistoryFacts,
): string | null {
  const since = revisions.findLastIndex(({ pins }) => pins?.get(name) !== copy) + 1;
  const [live, stored] = [presentIn(read, workload, name), presentIn(read, workload, copy)];
  if (stored === undefined) return null;
  const isLive = revisions[since] === revision && live !== undefined && hasContentOf(live.config, stored.config);
  if (isLive && live.editedBy !== undefined) return live.editedBy;
  const isFirst = revisions.find(({ pins }) => pins?.get(name) === copy) === revision;
  return isFirst ? (stored.editedBy ?? null) : null;
}

/** Reports whether a ConfigMap has the content of a copy, in the keys of the copy. */
function hasContentOf(live: Config, copy: Config): boolean {
  return hasSameKeys(keyChanges(withKeys(live, new Set(copy.keys)), copy));
}

function presentIn(
  read: ReadConfigs,
  { namespace }: Workload,
  name: string | undefined,
): Extract<ReadConfig, { readonly state: "present" }> | undefined {
  const found = name === undefined ? undefined : read.get(configKey({ kind: "ConfigMap", namespace, name }));
  return found?.state === "present" ? found : undefined;
}
