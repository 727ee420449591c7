import { expect, it } from "vitest";
import { outdated } from "../../../../test/support/pacing/due.ts";
import type { Progress } from "../../../domain/model/progress.ts";
import { type ProgressRecord, progressOf, recordProgress } from "./pacing-record.ts";

const at = (step: number): Progress => ({ state: "progressing", step, available: 1 });
const complete: Progress = { state: "complete", since: undefined };

/** Returns when a rollout last made progress, after these states, one each second. */
function advancedAfter(...states: readonly Progress[]): number | undefined {
  const findings: { progress: ProgressRecord | undefined } = { progress: undefined };
  const workload = outdated();
  for (const [second, progress] of states.entries()) recordProgress(findings, { ...workload, progress }, second);
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
  recordProgress(findings, { ...first, progress: complete }, 0);
  recordProgress(findings, { ...first, progress: at(1) }, 60_000);
  expect(progressOf(findings, first)).toMatchObject({ completeMs: 60_000 });
  const again = { ...first, rolledAt: 160 };
  expect(progressOf(findings, again)).toBeUndefined();
  recordProgress(findings, { ...again, progress: at(1) }, 60_100);
  expect(progressOf(findings, again)).toMatchObject({ completeMs: 0, advancedAt: 60_100 });
});
