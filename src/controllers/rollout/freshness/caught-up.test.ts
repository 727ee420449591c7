import { describe, expect, it } from "vitest";
import { planRollout } from "../../../../test/support/domain/decisions.ts";
import { configMap, defaultPolicy, lookupOf, readsAll, workload } from "../../../../test/support/domain/objects.ts";
import { workload as object } from "../../../../test/support/fake-cluster.ts";
import { kinds } from "../../../domain/model/kinds/apps-kinds.ts";
import { toWorkload } from "../../../domain/model/workload.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import type { RolloutPlan } from "../../../domain/outcomes/outcomes.ts";
import { newFindings } from "../memory/workload-memory.ts";
import {
  areCachesFresh,
  hasCaughtUp,
  newestOf,
  rememberCaughtUp,
  rememberNewest,
  rememberOwnWrite,
  takeNewest,
} from "./caught-up.ts";

const pod = readsAll("ConfigMap", "web");
const hashed = (value: string) => {
  const plan = planRollout(workload({ pod }), lookupOf(configMap("web", { a: value })), defaultPolicy);
  return "hash" in plan ? plan.hash : "";
};
const carrying = (hash: string) => workload({ pod, templateAnnotations: { "wave.pusher.com/config-hash": hash } });
const stored = { ...carrying(hashed("1")), resourceVersion: 100 };
const planOf = (value: string) => planRollout(stored, lookupOf(configMap("web", { a: value })), defaultPolicy);
const roll = planOf("2");
const named = {
  ...roll,
  changed: [{ kind: "ConfigMap", namespace: "other", name: "x", how: "changed" }],
} as unknown as RolloutPlan;

interface Case {
  readonly when: string;
  /** The workload that the caches once matched; undefined: none. */
  readonly matched: Workload | undefined;
  readonly plan: RolloutPlan;
  /** The revision up to which each namespace is synced. */
  readonly synced: Readonly<Record<string, number>>;
  readonly isFresh: boolean;
}

const cases: readonly Case[] = [
  { when: "each reference is newer", matched: stored, plan: roll, synced: { default: 101 }, isFresh: true },
  {
    when: "a reference is as old as the workload",
    matched: stored,
    plan: roll,
    synced: { default: 100 },
    isFresh: false,
  },
  { when: "the changed object is newer", matched: stored, plan: named, synced: { other: 101 }, isFresh: true },
  { when: "only other objects are newer", matched: stored, plan: named, synced: { default: 101 }, isFresh: false },
  { when: "the caches never matched", matched: undefined, plan: roll, synced: { default: 101 }, isFresh: false },
  {
    when: "the caches matched another hash",
    matched: carrying("v2:other"),
    plan: roll,
    synced: { default: 101 },
    isFresh: false,
  },
  {
    when: "the caches matched another recorded configuration",
    matched: { ...stored, recordedConfig: "another" },
    plan: roll,
    synced: { default: 101 },
    isFresh: false,
  },
  {
    when: "the caches matched a workload with another uid",
    matched: { ...stored, uid: "another" },
    plan: roll,
    synced: { default: 101 },
    isFresh: false,
  },
  { when: "the plan is no rollout", matched: stored, plan: planOf("1"), synced: { default: 101 }, isFresh: false },
];

it.for(cases)("returns $isFresh for a write without live reads if $when", ({ matched, plan, synced, isFresh }) => {
  const findings = newFindings();
  if (matched !== undefined) rememberOwnWrite(findings, matched);
  const syncedUpTo = (_: string, namespace: string) => synced[namespace] ?? 0;
  expect(areCachesFresh(findings, stored, plan, syncedUpTo)).toBe(isFresh);
});

it.for([
  ["a plan that finds the workload current", "1", true],
  ["a plan that rolls the workload", "2", false],
] as const)("reports whether the caches matched the workload after %s", ([, value, expected]) => {
  const findings = newFindings();
  rememberCaughtUp(findings, stored, planOf(value));
  expect(hasCaughtUp(findings, stored)).toBe(expected);
});

it("reads live if a hash that another client wrote matched, and an object that has not changed may be old", () => {
  const findings = newFindings();
  rememberCaughtUp(findings, stored, planOf("1"));
  const fresh = (synced: Readonly<Record<string, number>>) =>
    areCachesFresh(findings, stored, named, (_: string, namespace: string) => synced[namespace] ?? 0);
  expect([fresh({ other: 101 }), fresh({ other: 101, default: 101 })]).toEqual([false, true]);
});

it("still knows an own write when the caches match it again", () => {
  const findings = newFindings();
  rememberOwnWrite(findings, stored);
  rememberCaughtUp(findings, stored, planOf("1"));
  expect(findings.caughtUpWith?.isOwn).toBe(true);
});

it("keeps nothing of a workload but what is compared, because only its namespace has a limit", () => {
  const findings = newFindings();
  rememberOwnWrite(findings, stored);
  const { uid, recordedHash: hash, recordedConfig: config } = stored;
  expect(findings.caughtUpWith).toEqual({ uid, hash, config, isOwn: true });
});

const { metadata, spec } = object("web");
const web = (version: number, uid = "1", generation = version, annotations = {}): Workload => {
  const names = { namespace: "default", uid, generation, resourceVersion: `${version}` };
  const all = { ...metadata.annotations, ...annotations };
  return toWorkload(kinds.Deployment, { metadata: { ...metadata, ...names, annotations: all }, spec });
};

describe("the newest known state of a workload", () => {
  it("is used until the cache has caught up", () => {
    const findings = newFindings();
    const [old, after] = [web(1), web(3)];
    expect(newestOf(findings, old, 0)).toBe(old);
    rememberNewest(findings, old, after, 0);
    expect(newestOf(findings, old, 0)).toBe(after);
    // The cache first receives a write of another client before that of Wave.
    expect(newestOf(findings, web(2), 0)).toBe(after);
    const caughtUp = web(3);
    expect(takeNewest(findings, caughtUp, 0)).toBe(caughtUp);
    expect(newestOf(findings, old, 0)).toBe(old);
  });

  it("is used until then also if the write changed only annotations, which raises no generation", () => {
    const findings = newFindings();
    const written = { "wave.pusher.com/consecutive-rollouts": "1" };
    const [old, after, caughtUp] = [web(1, "1", 1), web(3, "1", 1, written), web(3, "1", 1, written)];
    rememberNewest(findings, old, after, 0);
    expect(newestOf(findings, web(2, "1", 1), 0)).toBe(after);
    expect(newestOf(findings, caughtUp, 0)).toBe(caughtUp);
  });

  it("is not used if the cache has received a later status, which does not change its version", () => {
    const findings = newFindings();
    const [old, read] = [web(1, "1", 1), web(3, "1", 1)];
    rememberNewest(findings, old, read, 0);
    expect(newestOf(findings, old, 0)).toBe(read);
    const complete = { ...old, progress: { state: "complete", since: undefined } } as const;
    expect(newestOf(findings, complete, 0)).toBe(complete);
  });

  it("is used if the cache has an earlier pod template of the workload that it refers to", () => {
    const findings = newFindings();
    const source = { apiVersion: "apps/v1", kind: "Deployment", name: "web", observed: "1" };
    const [old, read] = [web(1, "1", 1), { ...web(3, "1", 1), templateSource: { ...source, generation: 2 } }];
    rememberNewest(findings, old, read, 0);
    const later = { ...web(2, "1", 1), templateSource: { ...source, generation: 1 } };
    expect(newestOf(findings, later, 0)).toBe(read);
  });

  it("does not hide a workload that was recreated with the same name", () => {
    const findings = newFindings();
    const old = web(1);
    rememberNewest(findings, old, web(7), 0);
    const recreated = web(1, "2");
    expect(newestOf(findings, recreated, 0)).toBe(recreated);
  });

  it("expires if the cache never receives it", () => {
    const findings = newFindings();
    const [old, after] = [web(1), web(2)];
    rememberNewest(findings, old, after, 0);
    expect(newestOf(findings, old, 29_999)).toBe(after);
    expect(newestOf(findings, old, 30_000)).toBe(old);
  });
});
