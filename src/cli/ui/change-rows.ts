import { describeObject } from "../../domain/config/view-of-references.ts";
import type { BatchMember } from "../../domain/pacing/batches.ts";
import type { DerivedChange } from "../../domain/pacing/derive-batches.ts";
import { holdRows } from "../../domain/pacing/holds.ts";
import type { PacingFlags } from "../../domain/policy/policy.ts";
import { type ConfigName, configKey, isStored } from "../../domain/references/references.ts";
import { formatCount, waveArguments } from "../../domain/syntax/names.ts";
import { editedAt } from "../cluster/read/configs.ts";
import type { BatchesNow } from "../cluster/snapshot/batches-now.ts";
import { batchNumbers } from "../cluster/snapshot/workload-snapshot.ts";
import { sentences } from "../output/sentences.ts";
import type { EditLog } from "./edit-log.ts";
import type { Batch, Change, Failure } from "./model.ts";
import { changedObjects, type ExplainedWorkload, objectName, type RowContext } from "./workload-rows.ts";

/** The workloads of one namespace, with their batches. */
interface NamespaceFacts {
  readonly namespace: string;
  readonly workloads: readonly ExplainedWorkload[];
  readonly batches: BatchesNow;
  readonly edits: EditLog;
  readonly flags: PacingFlags;
  readonly now: number;
}

/** A change, and when it must be shown again. */
export interface ChangeRow {
  readonly change: Change;
  /** When time alone may change the row, in milliseconds since the epoch; undefined: never. */
  readonly nextCheckAt: number | undefined;
}

/** How long a complete change is shown, in milliseconds. */
const shownMs = 3_600_000;

/** Returns the changes of a namespace that roll, wait or were rolled in the last hour. */
export function changeRows(facts: NamespaceFacts, context: RowContext): readonly ChangeRow[] {
  const { namespace, workloads, batches } = facts;
  const held = heldByOthers(facts);
  const derived = batches.changesIn(namespace, recentObjects(facts));
  const byKey = new Map(workloads.map((each) => [each.key, each]));
  const known = new Map(derived.map((each) => [configKey(each.change.object), each]));
  const objects = new Map([...held].map(([key, { object }]) => [key, object]));
  for (const { change } of derived) objects.set(configKey(change.object), change.object);
  return [...objects].flatMap(([key, object]) => {
    const change = known.get(key);
    const waiting = held.get(key)?.workloads ?? [];
    const members = (change?.change.members ?? []).flatMap((member) => {
      const workload = byKey.get(member.key);
      return workload === undefined ? [] : [{ member, workload }];
    });
    if (members.length + waiting.length === 0) return [];
    return [changeRow({ object, change, members, waiting }, facts, context)];
  });
}

/** The objects that were edited in the last hour. */
function recentObjects({ workloads, now }: NamespaceFacts): readonly ConfigName[] {
  const recent = new Map<string, ConfigName>();
  for (const { snapshot } of workloads)
    for (const reference of snapshot.found.workload.references) {
      const key = configKey(reference);
      const at = recent.has(key) ? undefined : editedAt(snapshot.read.get(key));
      if (at !== undefined && now - at * 1000 < shownMs) recent.set(key, reference);
    }
  return [...recent.values()];
}

/** Workloads that are due for a change and held by something else than its batches. */
type HeldWorkloads = ReadonlyMap<
  string,
  { readonly object: ConfigName; readonly workloads: readonly ExplainedWorkload[] }
>;

function heldByOthers({ workloads }: NamespaceFacts): HeldWorkloads {
  const held = new Map<string, { object: ConfigName; workloads: ExplainedWorkload[] }>();
  for (const each of workloads) {
    const { hold, due } = each.explanation;
    if (hold === null || due !== "roll" || holdRows[hold.reason].check === undefined) continue;
    for (const object of changedObjects(each)) {
      const key = configKey(object);
      const known = held.get(key) ?? { object, workloads: [] };
      known.workloads.push(each);
      held.set(key, known);
    }
  }
  return held;
}

interface Member {
  readonly member: BatchMember;
  readonly workload: ExplainedWorkload;
}

interface ChangeFacts {
  readonly object: ConfigName;
  readonly change: DerivedChange | undefined;
  readonly members: readonly Member[];
  readonly waiting: readonly ExplainedWorkload[];
}

function changeRow(facts: ChangeFacts, namespaceFacts: NamespaceFacts, context: RowContext): ChangeRow {
  const { object, change, members, waiting } = facts;
  const { namespace, edits } = namespaceFacts;
  const key = configKey(object);
  const found = (members[0]?.workload ?? waiting[0])?.snapshot.read.get(key);
  const at = editedAt(found);
  const state = stateOf(facts);
  const failed = members
    .filter(({ member }) => member.stage.state === "failed")
    .toSorted((a, b) => rolledAt(b) - rolledAt(a))[0];
  const soaking = members.flatMap(({ member: { stage } }) => (stage.state === "soaking" ? [stage.until] : []));
  const isWaiting = members.some(({ member: { stage } }) => stage.state === "due");
  const canary = isWaiting && !change?.admission.canaryPassed ? [...(change?.admission.canary ?? [])][0] : undefined;
  const waitsFor = members.find(({ member }) => member.key === canary)?.workload;
  return {
    change: {
      id: [context.cluster, namespace, key].join("/"),
      cluster: context.cluster,
      namespace,
      object: objectName(object, namespace),
      keys: edits.keysOf(key, found),
      editor: (found?.state === "present" && found.editedBy) || null,
      editedAt: at === undefined ? null : at * 1000,
      state,
      message: messageOf(state, facts, namespace, waitsFor),
      soakUntil: state === "soaking" && soaking.length > 0 ? Math.max(...soaking) : null,
      waitsFor: waitsFor?.id ?? null,
      batches: batchesOf(facts, namespaceFacts.flags),
      failure: failed === undefined ? null : failureOf(failed.workload, facts, namespace, context),
    },
    nextCheckAt: change?.admission.nextCheckAt,
  };
}

function countOf(members: readonly Member[], ...states: readonly BatchMember["stage"]["state"][]): number {
  return members.filter(({ member }) => states.includes(member.stage.state)).length;
}

function stateOf({ change, members, waiting }: ChangeFacts): Change["state"] {
  if (change?.admission.halted) return "halted";
  if (countOf(members, "progressing") > 0) return "rolling";
  const left = countOf(members, "due", "heldElsewhere");
  if (countOf(members, "stuck") > 0) return "stuck";
  if (left > 0 && countOf(members, "soaking") > 0 && change?.admission.canaryPassed === false) return "soaking";
  if (left > 0) return (change?.admission.admitted.size ?? 0) > 0 ? "rolling" : "waiting";
  if (waiting.length > 0) return "waiting";
  return countOf(members, "failed") > 0 ? "halted" : "complete";
}

const changeTexts = {
  canary: (name: string, others: number) => `${name} rolls first. ${workloadsWait(others)} for it.`,
  rolling: (complete: number, all: number) =>
    `${formatCount(complete)} of ${formatCount(all)} ${all === 1 ? "workload is" : "workloads are"} complete.`,
  soaking: (name: string, others: number) =>
    `${name} is complete, and must stay so for the soak time. ${workloadsWait(others)} for it.`,
  stuck: (name: string, others: number) => `The rollout of ${name} is stuck. ${workloadsWait(others)}.`,
  failed: (name: string) => `The rollout of ${name} failed. No other workload waits for this change.`,
  complete: (all: number) =>
    all === 1 ? "The workload that reads the object is complete." : `All ${formatCount(all)} workloads are complete.`,
  waiting: (described: string) => `Workloads wait for other rollouts before they roll for ${described}.`,
} as const;

function workloadsWait(count: number): string {
  return count === 1 ? "1 workload waits" : `${formatCount(count)} workloads wait`;
}

function messageOf(
  state: Change["state"],
  { object, change, members, waiting }: ChangeFacts,
  namespace: string,
  waitsFor: ExplainedWorkload | undefined,
): string {
  const all = members.length + waiting.length;
  const complete = countOf(members, "passed", "soaking");
  const others = countOf(members, "due");
  const name = waitsFor === undefined ? "" : nameOf(waitsFor);
  switch (state) {
    case "rolling":
      return waitsFor !== undefined && others > 0
        ? changeTexts.canary(name, others)
        : changeTexts.rolling(complete, all);
    case "soaking":
      return changeTexts.soaking(name, others);
    case "halted": {
      const failed = members.find(({ member }) => member.stage.state === "failed");
      if (change?.admission.halted || failed === undefined) return change?.admission.hold.message ?? "";
      return changeTexts.failed(nameOf(failed.workload));
    }
    case "stuck": {
      const stuck = members.find(({ member }) => member.stage.state === "stuck");
      const why = stuck?.workload.explanation.message ?? "";
      return sentences(stuck === undefined ? "" : changeTexts.stuck(nameOf(stuck.workload), others), why);
    }
    case "waiting":
      return waiting[0]?.explanation.hold?.message ?? changeTexts.waiting(describeObject(object, namespace));
    case "complete":
      return changeTexts.complete(all);
  }
}

function nameOf({ explanation: { workload } }: ExplainedWorkload): string {
  return objectName(workload, workload.namespace);
}

type MemberState = Batch["workloads"][number]["state"];

const memberStates: Readonly<Record<BatchMember["stage"]["state"], MemberState>> = {
  due: "waiting",
  heldElsewhere: "waiting",
  progressing: "rolling",
  stuck: "stuck",
  soaking: "complete",
  passed: "complete",
  failed: "failed",
  held: "waiting",
  unusable: "stuck",
};

/** Returns the batches: those that started, the first of them as the canary, then those that are due, then those that something else holds. */
function batchesOf({ change, members, waiting }: ChangeFacts, flags: PacingFlags): readonly Batch[] {
  const numbers = change === undefined ? new Map<string, number>() : batchNumbers(change.change, flags);
  const isCanary = ({ member }: Member) => Number(change?.admission.canary.has(member.key) ?? false);
  const started = members
    .filter(({ member: { stage } }) => !["due", "heldElsewhere", "held"].includes(stage.state))
    .toSorted(
      (a, b) => isCanary(b) - isCanary(a) || rolledAt(a) - rolledAt(b) || (a.member.key < b.member.key ? -1 : 1),
    );
  const isStarted = new Set(started.map(({ member }) => member.key));
  const last = Math.max(1, ...numbers.values());
  const rows = [
    ...started.map((each, index) => ({ number: index === 0 ? 0 : 1, each })),
    ...members
      .filter(({ member }) => !isStarted.has(member.key))
      .map((each) => ({ number: (numbers.get(each.member.key) ?? last) - (started.length === 0 ? 1 : 0), each }))
      .toSorted((a, b) => a.number - b.number || (a.each.member.key < b.each.member.key ? -1 : 1)),
  ].map(({ number, each }) => ({ number, id: each.workload.id, state: memberStates[each.member.stage.state] }));
  const end = Math.max(0, ...rows.map(({ number }) => number));
  const all = [...rows, ...waiting.map(({ id }) => ({ number: end, id, state: "waiting" as const }))];
  return [...Map.groupBy(all, ({ number }) => number)]
    .toSorted(([a], [b]) => a - b)
    .map(([number, group]) => ({ number, workloads: group.map(({ id, state }) => ({ id, state })) }));
}

function rolledAt({ workload }: Member): number {
  return workload.snapshot.found.workload.rolledAt;
}

function failureOf(failed: ExplainedWorkload, facts: ChangeFacts, namespace: string, context: RowContext): Failure {
  const { object, members, waiting } = facts;
  const { contextFlag } = context;
  const readers: readonly ExplainedWorkload[] = [...members.map(({ workload }) => workload), ...waiting];
  const key = configKey(object);
  const pod = failingPod(failed);
  const { restarts, exit } = pod?.observed ?? {};
  const failing = restarts?.container ? restarts : exit;
  const old = readers.flatMap((reader) =>
    reader.pods.filter((each) => !each.observed.ending && reader.contentOf(each) === "old"),
  );
  return {
    workload: failed.id,
    pod: pod?.observed.name ?? null,
    container: failing?.container ?? null,
    exitCode: failing?.exitCode ?? null,
    reason: pod?.observed.notReadyReason ?? failed.explanation.kubernetes?.reason ?? null,
    logCommand:
      pod === undefined
        ? null
        : `kubectl logs -n ${namespace} ${pod.observed.name}${failing === undefined ? "" : ` -c ${failing.container}`}${restarts?.container ? " --previous" : ""}${contextFlag}`,
    podsWithOldContent: old.length,
    // Pods with pinned copies do not name the object.
    podsAtRisk: old.filter(({ files, env }) => files.has(key) || env.has(key)).length,
    resumeCommand: `wave resume ${isStored(object) && object.namespace === namespace ? waveArguments(object) : waveArguments(failed.explanation.workload)}${contextFlag}`,
  };
}

/** Returns the Pod of the last rollout that shows the failure best: the one that restarted most. */
function failingPod({ pods, snapshot }: ExplainedWorkload) {
  const { recordedHash } = snapshot.found.workload;
  return pods
    .filter(({ hash, observed }) => hash === recordedHash && !observed.ending && !observed.ready)
    .toSorted(
      ({ observed: a }, { observed: b }) => b.restarts.count - a.restarts.count || (a.name < b.name ? -1 : 1),
    )[0];
}
