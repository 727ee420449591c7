import { describe, expect, it } from "vitest";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  readsAll,
  unpaced,
  workload,
} from "../../../test/support/domain/objects.ts";
import { writeDigests } from "../config/recorded-digests.ts";
import { viewOfReferences } from "../config/view-of-references.ts";
import { type Workload, workloadKey } from "../model/workload-shape.ts";
import { rulesFor } from "../policy/rules.ts";
import { parseConfigKey } from "../references/references.ts";
import type { MemberFacts } from "./batch-member.ts";
import { type BatchesFacts, deriveBatches, holdingChange } from "./derive-batches.ts";

const now = Date.parse("2026-01-31T12:00:00Z");
const flags = { ...unpaced, maxConcurrent: 5, haltAfterFailures: 3, rolloutTimeoutMs: 600_000 };
const [page, other] = ["ConfigMap/default/page", "ConfigMap/default/other"];
const complete = { progress: { state: "complete", since: undefined } } as const;

const keyOf = (name: string) => workloadKey({ ...workload(), name });

/** What each workload reads, and what else is known about it. */
type Readers = Readonly<Record<string, { readonly reads: readonly string[]; readonly facts?: Partial<MemberFacts> }>>;

function batches(readers: Readers, rest: Partial<BatchesFacts> = {}, times: { readonly waitsForPlans?: boolean } = {}) {
  const keys = Object.entries(readers).map(([name, { reads }]) => [keyOf(name), reads] as const);
  const factsOf = (key: string): MemberFacts => {
    const name = key.split("/").at(-1) ?? "";
    const of: Workload = { ...workload(), name, ...complete };
    const rules = rulesFor(of, { ...defaultPolicy, pacing: flags });
    const unknown = { held: undefined, lastWrite: undefined, completeSince: undefined, advancedAt: undefined };
    return { key, workload: of, rules, ...unknown, completeMs: 0, ...readers[name]?.facts };
  };
  return deriveBatches({
    ...{ namespace: "default", due: new Map(keys), flags, now, lookup: () => undefined, hashKeys: undefined, factsOf },
    readersOf: (config) => keys.flatMap(([key, reads]) => (reads.includes(config) ? [key] : [])),
    changeOf: (config) => ({ object: parseConfigKey(config), changedAt: now, seenAt: now, ...times }),
    ...rest,
  });
}

const priority = (value: number) => {
  const rules = rulesFor(workload(), { ...defaultPolicy, pacing: flags });
  return { rules: { ...rules, priority: { value, by: "workload" } } } as const;
};
const names = (keys: Iterable<string>) => [...keys].map((key) => key.split("/").at(-1));

describe("a workload that is due for several changes", () => {
  const both = { reads: [page, other] };

  it("may start if all of them admit it, and is the canary of each", () => {
    const { admitted, changes } = batches({ a: both, b: { reads: [page] }, z: { reads: [other] } });
    expect([...admitted]).toEqual([[keyOf("a"), { changes: [page, other], wasComplete: true }]]);
    expect([...changes.values()].map(({ admission }) => names(admission.admitted))).toEqual([["a"], ["a"]]);
  });

  it("takes no place in the batch of one change while another one holds it", () => {
    const { admitted, changes } = batches({ a: both, b: { reads: [page] }, z: { reads: [other], facts: priority(1) } });
    expect(names(admitted.keys())).toEqual(["b", "z"]);
    const stageIn = (config: string) =>
      changes.get(config)?.change.members.find(({ key }) => key === keyOf("a"))?.stage.state;
    // The change that holds it is the one whose batch it waits for.
    expect([stageIn(page), stageIn(other)]).toEqual(["heldElsewhere", "due"]);
    const admissionOf = (config: string) => changes.get(config)?.admission;
    expect(holdingChange(keyOf("a"), [page, other], admissionOf)).toBe(page);
    expect(holdingChange(keyOf("b"), [page], admissionOf)).toBeUndefined();
  });

  it("does not start before the readers of all changes were planned", () => {
    const unplanned = { reads: [other], facts: { mustBePlanned: true } };
    const given = { a: both, b: { reads: [page] }, z: unplanned };
    const waits = batches(given, {}, { waitsForPlans: true });
    expect([waits.waiting, names(waits.admitted.keys())]).toEqual([[other], ["b"]]);
    const { waiting, admitted } = batches(given, {}, { waitsForPlans: false });
    expect([waiting, names(admitted.keys())]).toEqual([[], ["a"]]);
  });

  it("is held by a halted change first", () => {
    const failed = { state: "failed" } as const;
    const canary: Workload = { ...workload(), name: "canary", progress: failed, rolledAt: now / 1_000 + 1 };
    const given = {
      a: both,
      b: { reads: [page], facts: priority(1) },
      canary: { reads: [other], facts: { workload: canary } },
    };
    const due = new Map([
      [keyOf("a"), [page, other]],
      [keyOf("b"), [page]],
    ]);
    const { changes, admitted } = batches(given, { due });
    expect([names(admitted.keys()), names(changes.get(other)?.admission.failed ?? [])]).toEqual([["b"], ["canary"]]);
    expect(holdingChange(keyOf("a"), [page, other], (config) => changes.get(config)?.admission)).toBe(other);
  });
});

describe("a workload that was admitted", () => {
  const progress = { state: "progressing", step: 0, available: 1 } as const;
  const isRolling = { workload: { ...workload(), name: "a", progress } };

  it.each([true, false])("keeps its place until it is written, whatever its status shows", (wasComplete) => {
    const admitted = new Map([[keyOf("a"), { changes: [page], wasComplete }]]);
    const due = new Map([[keyOf("b"), [page]]]);
    const derived = batches({ a: { reads: [page], facts: isRolling }, b: { reads: [page] } }, { due, admitted });
    // A workload that was not complete before is no canary.
    expect(names(derived.admitted.keys())).toEqual(wasComplete ? [] : ["b"]);
    expect(derived.nextCheckAt).toBe(now + flags.rolloutTimeoutMs);
  });

  it("keeps its place also if it has just begun to read the object, and no longer waits for a plan", () => {
    const admitted = new Map([[keyOf("a"), { changes: [page], wasComplete: true }]]);
    const due = new Map([[keyOf("b"), [page]]]);
    const given = { a: { reads: [], facts: { mustBePlanned: true } }, b: { reads: [page] } };
    const derived = batches(given, { due, admitted }, { waitsForPlans: true });
    expect([derived.waiting, names(derived.admitted.keys()), derived.cost]).toEqual([[], [], 2]);
  });
});

it("the batches of a change for which no workload is due are derived only on request", () => {
  const readers = { a: { reads: [page] } };
  expect(batches(readers, { due: new Map() })).toMatchObject({ cost: 0, nextCheckAt: Number.POSITIVE_INFINITY });
  const { changes, admitted } = batches(readers, { due: new Map(), also: [page] });
  expect([[...changes.keys()], admitted.size]).toEqual([[page], 0]);
});

describe("a change that is later than the API shows", () => {
  const seconds = (ago: number) => now / 1_000 - ago;
  const { references } = workload({ pod: readsAll("ConfigMap", "page") });
  const viewOf = (...reads: typeof references) =>
    viewOfReferences(reads, lookupOf(configMap("page", { a: "1" })), undefined);
  const recorded = (...reads: typeof references) => ({
    recordedHash: viewOf(...reads).hash,
    configDigests: writeDigests(viewOf(...reads)),
  });
  const rolledAgo = (ago: number, edits = {}) => {
    const of = {
      ...workload(),
      ...complete,
      ...recorded(...references),
      rolledAt: seconds(ago),
      hashWrittenAt: seconds(ago),
      ...edits,
    };
    return { reads: [page], facts: { workload: of } };
  };
  /** `c` is not due. The API has the time of a change 100 s ago. */
  function admittedOf(a: ReturnType<typeof rolledAgo>, b: ReturnType<typeof rolledAgo>, c: number) {
    const changeOf = () => ({ object: parseConfigKey(page), changedAt: now - 100_000, seenAt: now });
    const due = new Map([keyOf("a"), keyOf("b")].map((key) => [key, [page]]));
    return names(batches({ a, b, c: rolledAgo(c) }, { due, changeOf }).admitted.keys());
  }
  const edited = { templateEditedAt: seconds(10) };
  const beginsToRead = recorded();

  it.each([
    ["is not what a rollout before the hash of a due workload included", rolledAgo(80), rolledAgo(60), 70, ["a"]],
    ["is what a later rollout included", rolledAgo(80), rolledAgo(60), 50, ["a", "b"]],
    ["is no other change if the hash of a due workload is older", rolledAgo(110), rolledAgo(60), 70, ["a", "b"]],
    ["does not follow from edited pod templates", rolledAgo(80, edited), rolledAgo(60, edited), 70, ["a", "b"]],
    ["does not follow from one edited pod template", rolledAgo(80), rolledAgo(60, edited), 70, ["a", "b"]],
    [
      "does not follow from workloads that begin to read the object",
      rolledAgo(80, beginsToRead),
      rolledAgo(60, beginsToRead),
      70,
      ["a", "b"],
    ],
    [
      "does not follow from one workload that begins to read the object",
      rolledAgo(80),
      rolledAgo(60, beginsToRead),
      70,
      ["a", "b"],
    ],
  ])("%s", (_, a, b, c, admitted) => {
    expect(admittedOf(a, b, c)).toEqual(admitted);
  });

  it("stays so while the last workload is admitted and not written", () => {
    const failed = { ...workload(), progress: { state: "failed" }, rolledAt: seconds(90) } as const;
    const given = { a: rolledAgo(80), b: { reads: [page], facts: { workload: failed } } };
    const changeOf = () => ({ object: parseConfigKey(page), changedAt: now - 100_000, seenAt: now });
    const admitted = new Map([[keyOf("a"), { changes: [page], wasComplete: true }]]);
    const { changes } = batches(given, { due: new Map(), admitted, changeOf });
    expect(changes.get(page)?.admission.halted).toBe(false);
  });
});

describe("workloads that each read other keys of one object", () => {
  const before = { recordedHash: "v2:a", rolledAt: now / 1_000 - 60, hashWrittenAt: now / 1_000 - 60 };
  const failed = { ...before, rolledAt: now / 1_000 - 30, progress: { state: "failed" } } as const;

  function readers(prefix: string, count: number, keys: number, facts: Partial<MemberFacts>, edits: Partial<Workload>) {
    const common = Array.from({ length: keys }, (_, n) => `key-${n}`);
    return Array.from({ length: count }, (_, n) => {
      const name = `${prefix}-${n}`;
      const reads = { reads: "env", keys: [...common, name], optional: false, path: "" } as const;
      const references = [{ kind: "ConfigMap", namespace: "default", name: "page", ...reads } as const];
      return [
        name,
        { reads: [page], facts: { ...facts, workload: { ...workload(), ...complete, references, ...edits } } },
      ];
    });
  }

  it.each([
    ["few read thousands of keys", 50, 4_990],
    ["many read a key", 2_000, 1],
  ])("are compared up to a limit, and count as part of the cost, if %s", (_, count, keys) => {
    const current = readers("a", count, keys, { isCurrent: true }, failed);
    const waiting = readers("z", count, keys, {}, before);
    const due = new Map(waiting.map(([name]) => [keyOf(String(name)), [page]]));
    const changeOf = () => ({ object: parseConfigKey(page), changedAt: now, seenAt: now });
    const { cost } = batches(Object.fromEntries([...current, ...waiting]), { due, changeOf });
    expect(cost - 2 * count).toBeGreaterThanOrEqual(20_000);
    expect(cost - 2 * count).toBeLessThan(21_000);
  });
});
