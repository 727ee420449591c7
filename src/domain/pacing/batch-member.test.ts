import { expect, it } from "vitest";
import { decide } from "../../../test/support/domain/decisions.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  readsAll,
  unpaced,
  workload,
} from "../../../test/support/domain/objects.ts";
import { momentAt } from "../../../test/support/pacing/due.ts";
import type { BuiltInKind } from "../model/kinds/apps-kinds.ts";
import { workloadKey } from "../model/workload-shape.ts";
import { rulesFor } from "../policy/rules.ts";
import { batchMember, type MemberFacts, type MemberPosition } from "./batch-member.ts";
import { admitBatch } from "./batches.ts";

const changedAt = 1_000_000;
const now = changedAt + 60_000;
const page = "ConfigMap/default/page";
const times = { changedAt, seenAt: undefined };
const flags = { ...unpaced, maxConcurrent: 5, soakMs: 10_000, rolloutTimeoutMs: 600_000 };
/** A workload whose rollout completed 30 seconds after the change. */
const rolled = {
  ...workload({ pod: readsAll("ConfigMap", "page") }),
  recordedHash: "v2:new",
  rolledAt: changedAt / 1_000 + 30,
  progress: { state: "complete", since: changedAt / 1_000 + 30 },
} as const;
const lookup = lookupOf({ ...configMap("page", { a: "2" }), changedAt: changedAt / 1_000 });

interface Given extends Partial<MemberFacts> {
  readonly position?: MemberPosition;
}

function stageWith({ position = "none", ...change }: Given, of: object = {}, at = now) {
  const reader = { ...rolled, ...of };
  const facts: MemberFacts = {
    key: workloadKey(reader),
    workload: reader,
    rules: rulesFor(reader, { ...defaultPolicy, pacing: flags }),
    held: undefined,
    lastWrite: undefined,
    completeSince: undefined,
    advancedAt: undefined,
    completeMs: 0,
    ...change,
  };
  return batchMember(facts, position, page, times, { lookup, flags, now: at })?.stage.state;
}

const before = { rolledAt: changedAt / 1_000 - 30 };
const inItsSecond = { rolledAt: changedAt / 1_000 };
const stuckInItsSecond = { ...inItsSecond, progress: { state: "progressing" } };
const failing = { progress: { state: "failed" } };
/** A write for the changes of these objects; without any: for changes that are not known. */
const writeFor = (...includes: readonly string[]) => ({
  at: now - 20_000,
  hash: "v2:new",
  includes: includes.length === 0 ? undefined : includes,
});
const unhashed = { recordedHash: undefined };
const cases: readonly [string, Given, object, string | undefined][] = [
  ["rolled after the change", {}, {}, "passed"],
  ["rolled before the change", {}, before, undefined],
  ["is being deleted", {}, { deleting: true }, undefined],
  ["has opted out", {}, { optIn: { state: "out" } }, undefined],
  ["takes no part in batches", {}, { policy: { batches: "off" } }, undefined],
  ["is admitted", { position: { wasComplete: true } }, before, "progressing"],
  ["is due", { position: "due" }, before, "due"],
  ["rolled in the second of the change", {}, inItsSecond, undefined],
  ["rolled in the second of the change and is current", { isCurrent: true }, inItsSecond, "passed"],
  [
    "is current, and was rolled by this process in the second of the change, but before it",
    { isCurrent: true, lastWrite: { ...writeFor(), at: changedAt } },
    inItsSecond,
    undefined,
  ],
  ["is held for this change", { held: { reason: "window", changed: new Set([page]) } }, {}, undefined],
  [
    "is held for another change",
    { held: { reason: "window", changed: new Set(["ConfigMap/default/other"]) } },
    {},
    "passed",
  ],
  ["lost its hash, and is held", { held: { reason: "window", changed: undefined } }, unhashed, undefined],
  ["lost the hash of the last write", { lastWrite: { at: now - 20_000, hash: "v2:other" } }, {}, undefined],
  ["has the hash of the last write", { lastWrite: { at: now - 20_000, hash: "v2:new" } }, {}, "passed"],
  ["was complete and no longer is", { completeMs: 10_000 }, { progress: { state: "progressing" } }, "passed"],
  ["fails, and was rolled for this change", { lastWrite: writeFor(page) }, failing, "failed"],
  ["fails, and was rolled for changes that are not known", { lastWrite: writeFor() }, failing, "failed"],
  ["fails, and was rolled for another change", { lastWrite: writeFor("Secret/default/page") }, failing, undefined],
  ["passed, and was rolled for another change", { lastWrite: writeFor("Secret/default/page") }, {}, undefined],
  ["is not complete", { completeMs: 9_999 }, { progress: { state: "progressing" } }, "progressing"],
];

it("fails a rollout timeout after a rollout in the second of the change, as for the process that rolled it", () => {
  const at = (ms: number) => stageWith({ isCurrent: true }, stuckInItsSecond, changedAt + ms);
  expect(at(flags.rolloutTimeoutMs - 1)).toBe("progressing");
  expect(at(flags.rolloutTimeoutMs)).toBe("failed");
});

it.for(cases)("derives the stage of a workload that %s", ([, facts, of, stage]) => {
  expect(stageWith(facts, of)).toBe(stage);
});

it.each(["on", "off"])(
  "a rollout from an incomplete state shows nothing if it fails, with `batches: %s`",
  (batches) => {
    const first = workload({ annotations: { "wave.pusher.com/batches": batches }, pod: readsAll("ConfigMap", "page") });
    const progress = { state: "progressing", step: 0, available: 0 } as const;
    const policy = { ...defaultPolicy, pacing: { ...unpaced, maxConcurrent: 1 } };
    const plan = decide({ workload: { ...first, progress }, lookup, policy, moment: momentAt(now) });
    expect(plan).toMatchObject({ outcome: "firstHash", incomplete: { completeBefore: undefined } });
  },
);

it("orders the members of a change by kind and size, whatever their names and statuses", () => {
  const member = (kind: BuiltInKind, name: string, replicas?: number) => {
    const spec = replicas === undefined ? {} : { replicas };
    const reader = { ...workload({ kind, metadata: { name }, spec, pod: readsAll("ConfigMap", "page") }) };
    const due = { workload: { ...reader, progress: rolled.progress } };
    const facts = { key: workloadKey(reader), rules: rulesFor(reader, { ...defaultPolicy, pacing: flags }) };
    const unknown = { held: undefined, lastWrite: undefined, completeSince: undefined, advancedAt: undefined };
    const known = { ...unknown, ...due, ...facts, completeMs: 0 };
    return batchMember(known, "due", page, times, { lookup, flags, now });
  };
  const members = [
    member("DaemonSet", "agent"),
    member("StatefulSet", "a", 1),
    member("Deployment", "big", 30),
    member("Deployment", "small", 2),
    member("StatefulSet", "b", 3),
    member("Deployment", "also-small", 2),
  ].filter((each) => each !== undefined);
  const object = { kind: "ConfigMap", namespace: "default", name: "page" } as const;
  const all = { ...flags, maxConcurrent: 99 };
  const canary = { key: "canary", priority: 0, weight: 0, stage: { state: "passed" } } as const;
  const inOrder = (given: typeof members) => [
    ...admitBatch({ object, namespace: "default", members: [canary, ...given] }, all).admitted,
  ];
  const names = ["also-small", "small", "big", "a", "b", "agent"];
  expect(inOrder(members).map((key) => key.split("/").at(-1))).toEqual(names);
  expect(inOrder(members.toReversed()).map((key) => key.split("/").at(-1))).toEqual(names);
});
