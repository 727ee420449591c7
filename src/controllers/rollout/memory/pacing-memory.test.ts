import { expect, it } from "vitest";
import { outdated } from "../../../../test/support/pacing/due.ts";
import type { Progress } from "../../../domain/model/kind-row.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import type { RolloutPlan } from "../../../domain/outcomes/outcomes.ts";
import {
  lastWriteAfter,
  progressOf,
  type RememberedProgress,
  type RolloutWrite,
  rememberProgress,
} from "./pacing-memory.ts";

const at = (step: number): Progress => ({ state: "progressing", step, available: 1 });
const complete: Progress = { state: "complete", since: undefined };

/** Returns when a rollout last made progress, after these states, one each second. */
function advancedAfter(...states: readonly Progress[]): number | undefined {
  const findings: { progress: RememberedProgress | undefined } = { progress: undefined };
  const workload = outdated();
  for (const [second, progress] of states.entries()) rememberProgress(findings, { ...workload, progress }, second);
  return findings.progress?.advancedAt;
}

it("a rollout advances with each Pod that is replaced or becomes available", () => {
  expect(advancedAfter(at(1), at(1), at(2), at(2))).toBe(2);
  expect(advancedAfter(at(1), at(2), complete)).toBe(2);
});

it("a rollout does not advance if a Pod becomes available again and again", () => {
  expect(advancedAfter(at(1), at(2), at(1), at(2), at(1), at(2))).toBe(1);
  expect(advancedAfter(at(1), complete, at(1), complete, at(2), complete)).toBe(1);
});

it("a rollout has its whole timeout after its workload was scaled from zero, or the status shows a write of a note late", () => {
  const idle: Progress = { state: "idle" };
  expect(advancedAfter(at(0), idle, idle, at(0))).toBe(3);
  expect(advancedAfter(at(0), idle, at(0), at(0))).toBe(2);
  expect(advancedAfter(at(1), complete, idle, at(0), at(1))).toBe(4);
});

it("a rollout with an unchanged hash has not been complete before", () => {
  const findings: { progress: RememberedProgress | undefined } = { progress: undefined };
  const first = { ...outdated(), rolledAt: 100 };
  rememberProgress(findings, { ...first, progress: complete }, 0);
  rememberProgress(findings, { ...first, progress: at(1) }, 60_000);
  expect(progressOf(findings, first)).toMatchObject({ completeMs: 60_000 });
  const again = { ...first, rolledAt: 160 };
  expect(progressOf(findings, again)).toBeUndefined();
  rememberProgress(findings, { ...again, progress: at(1) }, 60_100);
  expect(progressOf(findings, again)).toMatchObject({ completeMs: 0, advancedAt: 60_100 });
});

/** Returns the objects whose changes the last of these rollouts, or earlier ones that have not passed, are the first to include. */
function includedAfter(...rollouts: readonly (readonly [object: string | undefined, afterOneThatPassed: boolean])[]) {
  let lastWrite: RolloutWrite | undefined;
  let before: Workload = { ...outdated(), recordedHash: "v2:before" };
  for (const [name, hasPassed] of rollouts) {
    const changed = name === undefined ? undefined : [{ kind: "ConfigMap", namespace: "default", name } as const];
    const plan = { outcome: "roll", hash: `v2:${name}`, changed } as RolloutPlan;
    lastWrite = lastWriteAfter({ lastWrite }, before, plan, hasPassed, 0);
    before = { ...before, recordedHash: `v2:${name}` };
  }
  return lastWrite?.includes;
}

it("a rollout is for its changes, and for those of rollouts before it that have not passed", () => {
  const [a, b] = ["ConfigMap/default/a", "ConfigMap/default/b"];
  expect(includedAfter(["a", true])).toEqual([a]);
  expect(includedAfter(["a", true], ["b", true])).toEqual([b]);
  expect(includedAfter(["a", true], ["b", false])).toEqual([a, b]);
  expect(includedAfter(["a", false])).toBeUndefined();
  expect(includedAfter([undefined, true], ["b", false])).toBeUndefined();
  expect(includedAfter([undefined, true], ["b", true])).toEqual([b]);
});

it("a rollout with the hash that is still in the pod template is a new one, and no write of a removed hash", () => {
  const before = { ...outdated(), recordedHash: "v2:a", recordedConfig: "v2:a v2:b" };
  const plan = { outcome: "roll", hash: "v2:a", consecutiveRollouts: 2 } as RolloutPlan;
  const first = { at: 0, uid: before.uid, hash: "v2:a", consecutiveRollouts: 1, timesReverted: 0, includes: undefined };
  const again = lastWriteAfter({ lastWrite: first }, before, plan, true, 5);
  expect(again).toMatchObject({ at: 5, consecutiveRollouts: 2, timesReverted: 0 });
});
