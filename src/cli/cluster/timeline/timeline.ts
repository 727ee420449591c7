// What happened in a cluster: edits, rollouts, holds, halts and leaders. This folder reads and joins what Kubernetes keeps; it decides nothing.
import type { Workload } from "../../../domain/model/workload-shape.ts";
import { type Cause, readCause } from "../../../domain/pacing/cause.ts";
import { type ConfigName, configKey, configKinds } from "../../../domain/references/references.ts";
import { formatList } from "../../../domain/syntax/names.ts";
import { formatDuration } from "../../../domain/syntax/time.ts";
import { completeNow, endOf, leaderReason, type RolloutEnd, type WaveEvent } from "./wave-events.ts";

/** Something that happened. Times are milliseconds since the epoch. Names and keys, never values. */
export interface TimelineEntry {
  readonly at: number;
  /** When it ended; null while it lasts, for a moment, or if that is not known. */
  readonly endedAt: number | null;
  readonly namespace: string;
  readonly type: "edit" | "rollout" | "hold" | "halt" | "leader";
  /** `KIND/NAME`. */
  readonly about: string;
  /** The keys of an edit, or the objects with the keys behind a rollout: `ConfigMap page (color)`. */
  readonly details: readonly string[];
  /** The field managers that edited last, or the leader; null if unknown. */
  readonly by: string | null;
  /** How a rollout ended; null for other entries, and if that is not known. */
  readonly result: "complete" | "failed" | "running" | null;
  /** The line for people that follows `about`, with times in the local time zone. */
  readonly text: string;
}

/** The last edit of an object that a workload reads, as the object records it. */
export interface ObjectEdit extends ConfigName {
  readonly at: number;
  readonly by: string | undefined;
}

/** The cause annotation of a revision. */
export interface RevisionCause {
  /** The uid of its workload. */
  readonly uid: string;
  readonly cause: string;
}

/** What a timeline is made from. */
export interface TimelineFacts {
  readonly workloads: readonly Workload[];
  readonly revisions: readonly RevisionCause[];
  readonly events: readonly WaveEvent[];
  readonly edits: readonly ObjectEdit[];
}

/** Returns what happened from `since` on, in milliseconds since the epoch, or has not ended before, the oldest first. */
export function timelineOf(facts: TimelineFacts, since: number): readonly TimelineEntry[] {
  const revisions = Map.groupBy(facts.revisions, ({ uid }) => uid);
  const events = Map.groupBy(facts.events, ({ uid }) => uid);
  const rollouts = facts.workloads.flatMap((workload) =>
    rolloutsOf(workload, revisions.get(workload.uid) ?? [], events.get(workload.uid) ?? []),
  );
  const entries = [
    ...rollouts.map(({ entry }) => entry),
    ...holdsOf(facts.events, rollouts),
    ...editsOf(facts.edits, rollouts),
    ...haltsOf(facts.events, events),
    ...leadersOf(facts.events),
  ];
  return entries
    .filter(({ at, endedAt }) => Math.max(at, endedAt ?? at) >= since)
    .toSorted((a, b) => a.at - b.at || order.indexOf(a.type) - order.indexOf(b.type) || (a.about < b.about ? -1 : 1));
}

/** The order of entries of one second. */
const order: readonly TimelineEntry["type"][] = ["leader", "edit", "hold", "rollout", "halt"];

interface Rollout {
  readonly workload: Workload;
  readonly cause: Cause;
  readonly entry: TimelineEntry;
}

/** Returns the rollouts of a workload that its revisions keep. An edit of its image makes a revision with the same cause. */
function rolloutsOf(
  workload: Workload,
  revisions: readonly RevisionCause[],
  events: readonly WaveEvent[],
): readonly Rollout[] {
  const { namespace, progress } = workload;
  const written = [...revisions.map(({ cause }) => cause), workload.cause];
  const found = written.flatMap((each) => readCause(each) ?? []);
  const unique = new Map(found.map(({ digits, cause }) => [`${digits} ${cause.at}`, cause]));
  const causes = [...unique.values()].toSorted((a, b) => a.at - b.at);
  return causes.map((cause, index) => {
    const next = causes[index + 1];
    const end = endOf(events, cause.at, next?.at) ?? (next === undefined ? completeNow(workload, cause.at) : undefined);
    const details = cause.edits.map((edit) => objectText(edit, edit.keys, namespace));
    const isRunning = end === undefined && next === undefined && progress.state === "progressing";
    const entry: TimelineEntry = {
      at: cause.at,
      endedAt: end?.at ?? null,
      namespace,
      type: "rollout",
      about: nameOf(workload),
      details,
      by: editorsOf(cause),
      result: isRunning ? "running" : (end?.result ?? null),
      text: rolloutText(cause, details, end),
    };
    return { workload, cause, entry };
  });
}

function rolloutText(cause: Cause, details: readonly string[], end: RolloutEnd | undefined): string {
  return [
    `rolled: ${details.length === 0 ? cause.why : formatList(details, shownObjects, String)}`,
    editText(cause),
    heldText(cause),
    end && `${end.result} ${timeOfDay(end.at, cause.at)}${end.why === undefined ? "" : `: ${end.why}`}`,
  ]
    .filter((part) => part !== undefined)
    .join(", ");
}

/** Returns when and by whom the objects were edited last: `edited 18:03:10 by helm`. */
function editText(cause: Cause): string | undefined {
  const [at, by] = [lastEditAt(cause), editorsOf(cause)];
  if (at === undefined && by === null) return undefined;
  return `edited${at === undefined ? "" : ` ${timeOfDay(at, cause.at)}`}${by === null ? "" : ` by ${by}`}`;
}

/** Returns a time in the local time zone, with its date if that is another one than the date of `beside`. Both are in milliseconds since the epoch. */
export function timeOfDay(at: number, beside: number): string {
  const [[date, time], [dateBeside]] = [localTime(at), localTime(beside)];
  return date === dateBeside ? time : `${date} ${time}`;
}

function localTime(at: number): readonly [date: string, time: string] {
  const local = new Date(at);
  const two = (value: number) => String(value).padStart(2, "0");
  return [
    `${local.getFullYear()}-${two(local.getMonth() + 1)}-${two(local.getDate())}`,
    [local.getHours(), local.getMinutes(), local.getSeconds()].map(two).join(":"),
  ];
}

/** How many objects a line names. */
const shownObjects = 3;

/** Returns what held a rollout, and for how long since the last edit: `held by window 9h`. */
function heldText(cause: Cause): string | undefined {
  if (cause.heldBy === undefined) return undefined;
  const since = lastEditAt(cause);
  const ms = since === undefined ? 0 : cause.at - since;
  return `held by ${cause.heldBy}${ms < 1_000 ? "" : ` ${formatDuration(rounded(ms))}`}`;
}

/** Returns a duration in whole hours, minutes or seconds. */
function rounded(ms: number): number {
  const unit = [3_600_000, 60_000].find((each) => ms >= 2 * each) ?? 1_000;
  return Math.floor(ms / unit) * unit;
}

function lastEditAt({ edits }: Cause): number | undefined {
  const times = edits.flatMap(({ at }) => at ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}

function editorsOf({ edits }: Cause): string | null {
  const names = [...new Set(edits.flatMap(({ by }) => by ?? []))];
  return names.length === 0 ? null : formatList(names, shownObjects, String);
}

/** Returns the edits that the objects record, and those behind rollouts. Only the latter name keys. */
function editsOf(edits: readonly ObjectEdit[], rollouts: readonly Rollout[]): readonly TimelineEntry[] {
  const known = rollouts.flatMap(({ cause }) =>
    cause.edits.flatMap((edit) => (edit.at === undefined ? [] : [{ ...edit, at: edit.at }])),
  );
  const all = [...edits.map((edit) => ({ ...edit, keys: [] })), ...known];
  const unique = new Map(all.map((edit) => [`${configKey(edit)} ${edit.at}`, edit]));
  return [...unique.values()].map(({ at, by, keys, ...object }) => ({
    at,
    endedAt: null,
    namespace: object.namespace,
    type: "edit",
    about: nameOf(object),
    details: keys,
    by: by ?? null,
    result: null,
    text: `edited${keys.length === 0 ? "" : ` (${formatList(keys, shownObjects, String)})`}${by === undefined ? "" : ` by ${by}`}`,
  }));
}

/** Returns the holds that Events report, and those that a rollout records as its last one. */
function holdsOf(events: readonly WaveEvent[], rollouts: readonly Rollout[]): readonly TimelineEntry[] {
  const ofWorkload = Map.groupBy(rollouts, ({ workload }) => workload.uid);
  const ended = new Set<Cause>();
  const reported = events
    .filter(({ reason }) => reason === "RolloutHeld")
    .map((event) => {
      const next = ofWorkload.get(event.uid)?.find(({ cause }) => cause.at >= event.lastAt)?.cause;
      if (next !== undefined) ended.add(next);
      return entryOf(event, "hold", next?.at ?? null);
    });
  const recorded = rollouts.flatMap(({ cause, entry }): readonly TimelineEntry[] => {
    const at = lastEditAt(cause);
    if (cause.heldBy === undefined || ended.has(cause) || at === undefined || at >= cause.at) return [];
    const text = `held by ${cause.heldBy}`;
    return [{ ...entry, at, endedAt: cause.at, type: "hold", result: null, by: null, details: [], text }];
  });
  return [...reported, ...recorded];
}

/** Returns the halts of changes, from the Events on the changed objects. */
function haltsOf(
  events: readonly WaveEvent[],
  byUid: ReadonlyMap<string, readonly WaveEvent[]>,
): readonly TimelineEntry[] {
  return events
    .filter(({ reason, kind }) => reason === "RolloutHalted" && configKinds.some((each) => each === kind))
    .map((event) => {
      const end = byUid.get(event.uid)?.find(({ reason, at }) => reason === "RolloutResolved" && at >= event.lastAt);
      return entryOf(event, "halt", end?.at ?? null);
    });
}

function leadersOf(events: readonly WaveEvent[]): readonly TimelineEntry[] {
  return events.filter(({ reason }) => reason === leaderReason).map((event) => entryOf(event, "leader", null));
}

function entryOf(event: WaveEvent, type: TimelineEntry["type"], endedAt: number | null): TimelineEntry {
  const { at, namespace, message: text } = event;
  return { at, endedAt, namespace, type, about: nameOf(event), details: [], by: null, result: null, text };
}

/** Returns `deployment/web`. A kind of a custom resource has its group: `rollout.argoproj.io/web` becomes `rollout/web`. */
function nameOf({ kind, name }: { readonly kind: string; readonly name: string }): string {
  return `${kind.split(".")[0]?.toLowerCase()}/${name}`;
}

function objectText({ kind, namespace, name }: ConfigName, keys: readonly string[], workloadNamespace: string): string {
  const shown = namespace === workloadNamespace ? name : `${namespace}/${name}`;
  return `${kind} ${shown}${keys.length === 0 ? "" : ` (${keys.join(", ")})`}`;
}
