import { expect, it } from "vitest";
import { outdated } from "../../../../test/support/pacing/due.ts";
import type { Progress } from "../../../domain/model/progress.ts";
import { type ProgressRecord, progressOf, recordCurrent, recordProgress } from "./pacing-record.ts";

const at = (step: number): Progress => ({ state: "progressing", step, available: 1 });
const complete: Progress = { state: "complete", since: undefined };

/** Returns when a rollout last made progress, after these states, one each second. */
function advancedAfter(...states: readonly Progress[]): number | undefined {
  const findings: { progress: ProgressRecord | undefined } = { progress: undefined };
  const workload = outdated();
  for (const [second, progress] of states.entries()) recordProgress(findings, { ...workload, progress }, 0, second);
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

it("a rollout with an unchanged hash has not been complete before", () => {
  const findings: { progress: ProgressRecord | undefined } = { progress: undefined };
  const first = { ...outdated(), rolledAt: 100 };
  recordProgress(findings, { ...first, progress: complete }, 0, 0);
  recordProgress(findings, { ...first, progress: at(1) }, 0, 60_000);
  expect(progressOf(findings, first)).toMatchObject({ completeMs: 60_000 });
  const again = { ...first, rolledAt: 160 };
  expect(progressOf(findings, again)).toBeUndefined();
  recordProgress(findings, { ...again, progress: at(1) }, 0, 60_100);
  expect(progressOf(findings, again)).toMatchObject({ completeMs: 0, advancedAt: 60_100 });
});

/** Returns the last rollout that passed, after a rollout that was complete for `completeMs`, and two more that were not. */
function passedAfter(completeMs: number, { isCurrent }: { readonly isCurrent: boolean }) {
  const findings: { progress: ProgressRecord | undefined } = { progress: undefined };
  const first = { ...outdated(), rolledAt: 100, progress: complete };
  recordProgress(findings, first, 10_000, 0);
  if (isCurrent) recordCurrent(findings, 1_000);
  const [second, third] = [160, 220].map((rolledAt) => ({ ...first, rolledAt, progress: at(1) }));
  for (const [later, next] of [second, third].entries()) {
    recordProgress(findings, next ?? first, 10_000, completeMs + later * 60_000);
    recordCurrent(findings, completeMs + later * 60_000);
  }
  return findings.progress?.lastPassed;
}

it("a rollout that was complete for the soak time is remembered after rollouts that were not", () => {
  expect(passedAfter(10_000, { isCurrent: true })).toEqual({ rolledAt: 100, currentAt: 1_000 });
  expect(passedAfter(9_999, { isCurrent: true })).toBeUndefined();
});

it("a rollout by which the Pods do not read the current configuration is not remembered", () => {
  expect(passedAfter(10_000, { isCurrent: false })).toBeUndefined();
});
