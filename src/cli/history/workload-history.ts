import type { Config } from "../../domain/config/digest.ts";
import type { WorkloadObject } from "../../domain/model/workload-references.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import { type Cause, parseCause } from "../../domain/pacing/cause.ts";
import { parseRejected, rejectionDigest } from "../../domain/pinning/rejections.ts";
import type { PacingFlags } from "../../domain/policy/policy.ts";
import { type ConfigKind, configKey } from "../../domain/references/references.ts";
import { type PresentConfig, presentOf, type ReadConfigs } from "../cluster/read/configs.ts";
import type { ReadPods, RunningPod } from "../cluster/read/pods.ts";
import { rolloutFailure } from "../cluster/states/assess-state.ts";
import { type PodPinning, podPinning } from "../cluster/states/pod-pinning.ts";
import {
  hasSameKeys,
  type KeyChanges,
  keyChanges,
  type StoredRevision,
  withKeys,
} from "../cluster/timeline/revisions.ts";
import { completeNow, endOf, type RolloutEnd, timeText, type WaveEvent } from "../cluster/timeline/wave-events.ts";

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
  /** "pinned", "unpinned": only one of the two revisions has a copy. "unknown": a copy is gone or could not be read. */
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
   * "mixed": Wave replaced Pods that might have run an earlier configuration. "other": Secrets or live configuration changed. "unknown": one of
   * the two revisions is not pinned.
   */
  readonly cause: "first" | "configMaps" | "template" | "mixed" | "other" | "unknown";
  readonly changes: readonly ConfigMapChange[];
  /** When and why Wave rolled the workload to this revision; null if Wave did not, or if the revision does not show it. */
  readonly rollout: RevisionRollout | null;
}

/** A rollout by Wave to a revision. Times are RFC 3339. Names and keys, never values. */
export interface RevisionRollout {
  readonly startedAt: string;
  readonly why: string;
  /** The last edits behind it, at most ten names of objects and keys. */
  readonly edits: readonly {
    readonly kind: ConfigKind;
    readonly namespace: string;
    readonly name: string;
    readonly keys: readonly string[];
    readonly editedAt: string | null;
    readonly editedBy: string | null;
  }[];
  /** What held it: `window`, `approval`; null if nothing did for long. */
  readonly heldBy: string | null;
  /** Null while it lasts, or if Kubernetes does not show the end any more. */
  readonly end: {
    readonly result: "complete" | "failed";
    readonly at: string | null;
    readonly why: string | null;
  } | null;
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
  /** The Events of Wave about the workload, the oldest first; empty if they could not be read. */
  readonly events: readonly WaveEvent[];
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
      rollout: rolloutOf(index, facts),
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
  if (before.hash === after.hash) return before.rolledAt === after.rolledAt ? "template" : "mixed";
  return before.pins === undefined || after.pins === undefined ? "unknown" : "other";
}

/** Returns the rollout by Wave to a revision. A revision that has the cause of the one before was made by another client. */
function rolloutOf(index: number, facts: HistoryFacts): RevisionRollout | null {
  const causes = facts.revisions.map((_, at) => revisionCause(at, facts));
  const [cause, before] = [causes[index], causes[index - 1]];
  const hasSameHash = facts.revisions[index - 1]?.hash === facts.revisions[index]?.hash;
  if (cause === undefined || (hasSameHash && before?.at === cause.at)) return null;
  const next = causes.find((each, at) => at > index && each !== undefined && each.at > cause.at);
  const end = (next === undefined ? endNow(cause.at, facts) : undefined) ?? endOf(facts.events, cause.at, next?.at);
  return {
    startedAt: timeText(cause.at),
    why: cause.why,
    edits: cause.edits.map(({ at, by = null, ...edit }) => ({
      ...edit,
      editedAt: at === undefined ? null : timeText(at),
      editedBy: by,
    })),
    heldBy: cause.heldBy ?? null,
    end:
      end === undefined
        ? null
        : { result: end.result, at: end.at === undefined ? null : timeText(end.at), why: end.why ?? null },
  };
}

/** Kubernetes does not copy annotations again to a ControllerRevision that it uses again. The workload has those of its last rollout. */
function revisionCause(index: number, { revisions, workload }: HistoryFacts): Cause | undefined {
  const revision = revisions[index];
  const own = index === revisions.length - 1 ? parseCause(revision?.hash, workload.cause) : undefined;
  return own ?? revision?.cause;
}

/** Returns how the last rollout ended, by the status of the workload and its Pods; undefined if they do not show it. */
function endNow(
  startedAt: number,
  facts: HistoryFacts,
): (Partial<RolloutEnd> & Pick<RolloutEnd, "result">) | undefined {
  const { workload, pods } = facts;
  const failure = rolloutFailure(facts);
  if (failure !== undefined) {
    const ofRevision =
      pods.state === "read" ? pods.of(workload).filter(({ hash }) => hash === workload.recordedHash) : [];
    const { observed } = ofRevision.find(({ observed }) => observed.notReadyReason !== undefined) ?? {};
    const why = observed === undefined ? failure.why : `${observed.name} ${observed.notReadyReason}`;
    return { result: "failed", why };
  }
  return completeNow(workload, startedAt);
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

function presentIn(read: ReadConfigs, { namespace }: Workload, name: string | undefined): PresentConfig | undefined {
  return name === undefined ? undefined : presentOf(read.get(configKey({ kind: "ConfigMap", namespace, name })));
}
