import { describe, expect, it } from "vitest";
import {
  type CollectMoment,
  type CopyAction,
  type CopyUses,
  collectCopies,
  copyLimits,
  exceedsCopyLimit,
  keptCopies,
  maxCopyOwners,
  ownersInUse,
  type StoredCopy,
  unusedMs,
} from "./collect.ts";

const now = Date.UTC(2026, 0, 1, 12);
const ago = (ms: number) => new Date(now - ms).toISOString();
const seen: CollectMoment = { now, unseenMs: () => 0 };

const web = { apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: "web" };
const other = { ...web, name: "other", uid: "other" };

function copy(name: string, change: Partial<StoredCopy> = {}): StoredCopy {
  const fields = { uid: `uid-${name}`, resourceVersion: "1", createdAt: ago(unusedMs), bytes: 10, owners: [] };
  return { name, unusedSince: undefined, ...fields, ...change };
}

function used(change: { running?: string[]; old?: string[]; workloads?: CopyUses["workloads"] } = {}): CopyUses {
  const { running = [], old = [], workloads = new Map() } = change;
  return { running: new Set(running), old: new Set(old), workloads };
}

const short = (action: CopyAction) => `${action.type} ${action.copy.name}`;

function actions(copies: readonly StoredCopy[], uses: CopyUses, moment = seen): readonly string[] {
  return collectCopies(copies, uses, moment).actions.map(short);
}

const marked = (ms: number) => copy("page-1", { unusedSince: ago(ms) });

describe("a copy that nothing uses", () => {
  it.each<[string, StoredCopy, readonly string[]]>([
    ["is marked", copy("page-1"), ["mark page-1"]],
    ["is marked if it has no owner, as every other copy", copy("page-1", { owners: [] }), ["mark page-1"]],
    ["is marked if it has an owner", copy("page-1", { owners: [web] }), ["mark page-1"]],
    ["stays until its mark is an hour old", marked(unusedMs - 1), []],
    ["is deleted when its mark is an hour old", marked(unusedMs), ["delete page-1"]],
    ["is marked again if its mark is no time", copy("page-1", { unusedSince: "soon" }), ["mark page-1"]],
    ["is marked again if its mark is far in the future", marked(-unusedMs - 1), ["mark page-1"]],
    ["waits longer if its mark is somewhat in the future", marked(-60_000), []],
  ])("%s", (_what, stored, expected) => {
    expect(actions([stored], used())).toEqual(expected);
  });

  it("is not deleted before this process has seen its mark for some time, because clocks may be wrong", () => {
    expect(collectCopies([marked(unusedMs)], used(), { now, unseenMs: () => 5_000 })).toEqual({
      actions: [],
      dueInMs: 5_000,
    });
  });

  it("is due when its mark is an hour old", () => {
    expect(collectCopies([marked(unusedMs - 7)], used(), seen).dueInMs).toBe(7);
  });
});

describe("a copy in use", () => {
  it.each(["running", "old"] as const)("is never deleted or marked, but loses its mark: %s", (use) => {
    expect(actions([copy("page-1")], used({ [use]: ["page-1"] }))).toEqual([]);
    expect(actions([marked(10 * unusedMs)], used({ [use]: ["page-1"] }))).toEqual(["use page-1"]);
  });

  it("gets a workload that names it as an owner, if it has other owners", () => {
    const uses = used({ running: ["page-1"], workloads: new Map([["page-1", [web, other]]]) });
    const plan = collectCopies([copy("page-1", { owners: [web] })], uses, seen);
    expect(plan.actions).toEqual([{ type: "use", copy: expect.anything(), owners: [web, other] }]);
    expect(actions([copy("page-1", { owners: [web, other] })], uses)).toEqual([]);
  });

  it("gets no owner if it has none: Kubernetes never deletes it by itself", () => {
    const uses = used({ running: ["page-1"], workloads: new Map([["page-1", [web]]]) });
    expect(actions([copy("page-1")], uses)).toEqual([]);
  });

  it(`has no owner any more if it would have more than ${maxCopyOwners}`, () => {
    const owners = Array.from({ length: maxCopyOwners - 1 }, (_, i) => ({ ...web, name: `w${i}`, uid: `w${i}` }));
    expect(ownersInUse(owners, [web])).toHaveLength(maxCopyOwners);
    expect(ownersInUse(owners, [web, other])).toEqual([]);
    expect(ownersInUse([...owners, web], [web])).toBeUndefined();
  });

  it("has no owner any more if a workload uses it that may not exist yet", () => {
    expect(ownersInUse([web], [undefined])).toEqual([]);
    expect(ownersInUse([], [undefined])).toBeUndefined();
  });
});

describe("too many copies in a namespace", () => {
  const kept = { objects: 2, bytes: 100 };
  const copies = [
    copy("a", { createdAt: ago(1_000) }),
    copy("b", { createdAt: ago(3_000) }),
    copy("c", { createdAt: ago(2_000) }),
    copy("d", { createdAt: ago(4_000), bytes: 80 }),
  ];

  it("lose those of old revisions, oldest first", () => {
    const plan = collectCopies(copies, used({ running: ["d"], old: ["a", "b", "c"] }), { ...seen, kept });
    expect(plan.actions.map(short)).toEqual(["mark b", "mark c"]);
    expect(plan.actions).toMatchObject([{ excess: true }, { excess: true }]);
  });

  it("lose no copy that Pods read, whatever their number", () => {
    expect(actions(copies, used({ running: ["a", "b", "c", "d"] }), { ...seen, kept })).toEqual([]);
  });

  it("keep the choice of the sweep before: those that are marked are the first", () => {
    const again = copies.map((each) => (each.name === "a" ? { ...each, unusedSince: ago(unusedMs) } : each));
    const uses = used({ running: ["d"], old: ["a", "b", "c"] });
    expect(actions(again, uses, { ...seen, kept })).toEqual(["delete a", "mark b"]);
  });

  it("also by their size", () => {
    const uses = used({ old: ["a", "d"] });
    const large = [copy("a", { bytes: 60 }), copy("d", { bytes: 80, createdAt: ago(2 * unusedMs) })];
    expect(actions(large, uses, { ...seen, kept })).toEqual(["mark d"]);
  });

  it("are those that are used: unused copies are deleted anyway", () => {
    const uses = used({ old: ["a", "b"] });
    expect(actions(copies, uses, { ...seen, kept })).toEqual(["mark c", "mark d"]);
    expect(collectCopies(copies, uses, { ...seen, kept }).actions).toMatchObject([
      { excess: false },
      { excess: false },
    ]);
  });
});

describe("exceedsCopyLimit", () => {
  const many = (count: number, bytes: number) => Array.from({ length: count }, () => ({ bytes }));

  it("reports whether there is room for one more copy", () => {
    expect(exceedsCopyLimit(many(copyLimits.objects - 1, 1), 1)).toBe(false);
    expect(exceedsCopyLimit(many(copyLimits.objects, 1), 1)).toBe(true);
    expect(exceedsCopyLimit(many(1, copyLimits.bytes - 5), 5)).toBe(false);
    expect(exceedsCopyLimit(many(1, copyLimits.bytes - 5), 6)).toBe(true);
  });

  it("leaves room between the copies that are kept and the limit", () => {
    expect(keptCopies.objects).toBeLessThan(copyLimits.objects);
    expect(keptCopies.bytes).toBeLessThan(copyLimits.bytes);
  });
});
