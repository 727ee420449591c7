import { comparedHash } from "../config/hash.ts";
import { isRecorded, readDigests } from "../config/recorded-digests.ts";
import type { Lookup } from "../config/view-of-references.ts";
import type { Workload } from "../model/workload-shape.ts";
import type { HashKeys } from "../policy/hash-key.ts";
import type { PacingFlags } from "../policy/policy.ts";
import { isValidator } from "../policy/rules.ts";
import { awaitedContent, type KeysBudget } from "./awaited-content.ts";
import { batchMember, type MemberFacts, type MemberPosition, type ObjectChange } from "./batch-member.ts";
import { admitBatch, type BatchAdmission, type BatchedChange, type BatchMember } from "./batches.ts";

/** What the batches of one namespace follow from. Workloads and objects are named by their keys. Times are milliseconds since the epoch. */
export interface BatchesFacts {
  readonly namespace: string;
  /** The workloads that are due and held only by batches, with the objects whose changes made them due. */
  readonly due: ReadonlyMap<string, readonly string[]>;
  /** The workloads that were admitted and are not written yet. Default: none. */
  readonly admitted?: ReadonlyMap<string, AdmittedWorkload>;
  /** Objects whose change is derived even if no workload is due or admitted for it. Default: none. */
  readonly also?: Iterable<string>;
  /** Returns the workloads of the namespace that read an object. */
  readonly readersOf: (config: string) => Iterable<string>;
  /** Returns what is known about a workload; undefined if it takes no part in batches. */
  readonly factsOf: (key: string) => MemberFacts | undefined;
  readonly changeOf: (config: string) => ObjectChange;
  readonly lookup: Lookup;
  readonly hashKeys: HashKeys | undefined;
  readonly flags: PacingFlags;
  readonly now: number;
}

/** A workload that all of its changes admitted. */
export interface AdmittedWorkload {
  /** The objects whose changes made it due. */
  readonly changes: readonly string[];
  /** Whether it was complete before. Its status may show the new rollout before the write is answered. */
  readonly wasComplete: boolean;
}

/** The batches of one namespace at one moment. */
export interface DerivedBatches {
  /** The changes by their objects, without those that wait for a plan. */
  readonly changes: ReadonlyMap<string, DerivedChange>;
  /** The objects with a reader that must be planned first: it may have to roll first. */
  readonly waiting: readonly string[];
  /** The workloads that all of their changes admit now, in order, without those that were admitted before. */
  readonly admitted: ReadonlyMap<string, AdmittedWorkload>;
  /** When time alone may change the result, milliseconds since the epoch; Infinity: never. */
  readonly nextCheckAt: number;
  /** How many workloads were compared with a change, and keys in the same unit. */
  readonly cost: number;
}

/** A change, and which of its workloads may start. */
export interface DerivedChange {
  readonly change: BatchedChange;
  readonly admission: BatchAdmission;
}

/** How many keys of workloads one derivation compares, and how many of them cost as much as a reader. It takes at most about 0.1 s. */
const maxComparedKeys = 1_000_000;
const keysPerReader = 50;

/** How many recorded digests are read for each change. */
const maxReadDigests = 100;

/** How many times other workloads are admitted instead of those that other changes hold. The rest waits for the next time. */
const maxRounds = 4;

/**
 * Derives the batches of a namespace. The leader, the webhooks and the CLI all call this function, so the same facts have the same result. A
 * workload that is due for several changes may start if all of them admit it. If only some of them do, it takes no place in a batch
 * ("heldElsewhere"), so that no other workload waits for it.
 */
export function deriveBatches(facts: BatchesFacts): DerivedBatches {
  const { namespace, due, flags } = facts;
  const changes = new Map<string, DerivedChange>();
  const waiting: string[] = [];
  let cost = 0;
  const budget = { left: maxComparedKeys };
  const derive = (config: string, change: BatchedChange) =>
    changes.set(config, { change, admission: admitBatch(change, flags) });
  for (const [config, keys] of readersByChange(facts)) {
    cost += keys.size;
    const change = facts.changeOf(config);
    const members = membersOf(config, change, keys, facts, budget);
    if (members === undefined) waiting.push(config);
    else derive(config, { object: change.object, namespace, members });
  }
  const isAdmittedByAll = (key: string) =>
    due.get(key)?.every((config) => changes.get(config)?.admission.admitted.has(key)) === true;
  const heldElsewhere = new Set<string>();
  for (let round = 0; round < maxRounds; round++) {
    const partly = [...changes].filter(([, { admission }]) => {
      const held = [...admission.admitted].filter((key) => !isAdmittedByAll(key));
      for (const key of held) heldElsewhere.add(key);
      return held.length > 0;
    });
    if (partly.length === 0) break;
    for (const [config, { change }] of partly) derive(config, withHeldElsewhere(change, heldElsewhere));
  }
  const admitted = new Map<string, AdmittedWorkload>();
  let nextCheckAt = Number.POSITIVE_INFINITY;
  for (const { change, admission } of changes.values()) {
    nextCheckAt = Math.min(nextCheckAt, admission.nextCheckAt ?? nextCheckAt);
    if (admission.admitted.size === 0) continue;
    const isComplete = ({ stage }: BatchMember) => stage.state === "due" && stage.wasComplete;
    const complete = new Set(change.members.filter(isComplete).map(({ key }) => key));
    for (const key of admission.admitted) {
      if (isAdmittedByAll(key)) admitted.set(key, { changes: due.get(key) ?? [], wasComplete: complete.has(key) });
    }
  }
  cost += Math.floor((maxComparedKeys - budget.left) / keysPerReader);
  return { changes, waiting, admitted, nextCheckAt, cost };
}

/**
 * Returns the change that holds a workload which is due because these objects changed: a halted one first. Undefined if the changes admit the
 * workload.
 */
export function holdingChange(
  key: string,
  configs: readonly string[],
  admissionOf: (config: string) => BatchAdmission | undefined,
): string | undefined {
  const holding = configs.filter((config) => !admissionOf(config)?.admitted.has(key));
  return holding.find((config) => admissionOf(config)?.halted) ?? holding[0];
}

/** Returns the keys of the readers of each change. The workloads that are due or admitted may have begun to read it a moment ago. */
function readersByChange({ due, admitted, also = [], readersOf }: BatchesFacts): Map<string, Set<string>> {
  const readers = new Map<string, Set<string>>();
  const of = (config: string) => {
    const known = readers.get(config);
    if (known !== undefined) return known;
    const found = new Set(readersOf(config));
    readers.set(config, found);
    return found;
  };
  for (const [key, configs] of due) for (const config of configs) of(config).add(key);
  for (const [key, { changes }] of admitted ?? []) for (const config of changes) of(config).add(key);
  for (const config of also) of(config);
  return readers;
}

/** Returns the workloads that a change concerns; undefined if one of them must be planned first. */
function membersOf(
  config: string,
  change: ObjectChange,
  keys: Iterable<string>,
  facts: BatchesFacts,
  budget: KeysBudget,
): readonly BatchMember[] | undefined {
  const { due: dueChanges, admitted, factsOf } = facts;
  const readers: { readonly known: MemberFacts; readonly position: MemberPosition }[] = [];
  for (const key of keys) {
    const known = factsOf(key);
    if (known === undefined) continue;
    const before = admitted?.get(key);
    const isAdmitted = before?.changes.includes(config) === true;
    if (!isAdmitted && known.mustBePlanned && change.waitsForPlans) return undefined;
    readers.push({ known, position: isAdmitted ? before : dueChanges.get(key)?.includes(config) ? "due" : "none" });
  }
  const dueNow = readers.filter(({ position }) => position === "due");
  // The hash of an admitted workload may already be the new one.
  const waiting = dueNow.length > 0 ? dueNow : readers.filter(({ position }) => position !== "none");
  const due = waiting.map(({ known }) => known.workload);
  const changedAt = changedAfterHashes(config, change.changedAt, due, facts.hashKeys);
  let shownBy: ReturnType<typeof awaitedContent> | undefined;
  return readers.flatMap(({ known, position }) => {
    const awaited = (startedAt: number) => {
      if (change.isSeen || !hasContentOf(config, known, dueChanges.get(known.key))) return undefined;
      shownBy ??= awaitedContent(change.object, due, facts.lookup, budget);
      return shownBy(known.workload, known.rules, startedAt);
    };
    const found = batchMember(known, position, config, { ...change, changedAt, awaited }, facts);
    // Other readers do not wait longer for its plan, but for its check.
    const isUnplanned = typeof position !== "object" && known.mustBePlanned;
    const member = isUnplanned && isValidator(known.workload) ? unplannedValidator(known, found) : found;
    return member ?? [];
  });
}

/**
 * Returns when an object changed at the earliest, in milliseconds since the epoch. The API has no time of an edit that only removes fields. But if
 * all workloads that are due have a hash that is later than the last known change, another one followed. A workload whose pod template was edited
 * since, or whose hash did not include the object, shows nothing: it may only have begun to read the object.
 */
function changedAfterHashes(
  config: string,
  changedAt: number,
  due: readonly Workload[],
  hashKeys: HashKeys | undefined,
): number {
  const unedited = due.filter(({ hashWrittenAt, templateEditedAt }) => templateEditedAt <= hashWrittenAt);
  if (!unedited.every(({ hashWrittenAt }) => hashWrittenAt * 1000 > changedAt)) return changedAt;
  const latest = unedited.sort((a, b) => b.hashWrittenAt - a.hashWrittenAt).slice(0, maxReadDigests);
  const last = latest.find((workload) => {
    const digests = readDigests(workload.configDigests, comparedHash(workload), hashKeys);
    return digests !== undefined && isRecorded(digests, config);
  });
  return last === undefined ? changedAt : last.hashWrittenAt * 1000;
}

/** Reports whether the hash of a workload is for what an object contains now. `due`: the objects whose changes made it due for a batch. */
function hasContentOf(config: string, { isCurrent, held }: MemberFacts, due: readonly string[] | undefined): boolean {
  if (isCurrent) return true;
  const changed = due === undefined ? held?.changed : new Set(due);
  // Without any object, it is not known what changed.
  return changed !== undefined && changed.size > 0 && !changed.has(config);
}

/** Returns a validator that must be planned first as one that others wait for. */
function unplannedValidator({ key, rules }: MemberFacts, found: BatchMember | undefined): BatchMember | undefined {
  if (found?.stage.state === "failed" || !rules.batches.value) return found;
  const validator = rules.validatorRequired ? "required" : "optional";
  return { priority: 0, weight: 0, ...found, key, validator, stage: { state: "heldElsewhere" } };
}

function withHeldElsewhere(change: BatchedChange, keys: ReadonlySet<string>): BatchedChange {
  const members = change.members.map(
    (member): BatchMember =>
      member.stage.state === "due" && keys.has(member.key) ? { ...member, stage: { state: "heldElsewhere" } } : member,
  );
  return { ...change, members };
}
