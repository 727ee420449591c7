import { describe, expect, it } from "vitest";
import { planRollout } from "../../../../test/support/domain/decisions.ts";
import { defaultPolicy, lookupOf, workload } from "../../../../test/support/domain/objects.ts";
import type { RolloutPlan } from "../../../domain/outcomes/outcomes.ts";
import { finish, resultOf } from "./finish.ts";
import { newMemory, type WorkloadMemory } from "./workload-memory.ts";

const web = workload();
const done = { type: "done", workload: web, plan: planRollout(web, lookupOf(), defaultPolicy) } as const;
const held = { ...done, plan: { ...done.plan, outcome: "held" } as unknown as RolloutPlan };
const hold = {
  reason: "window",
  since: 0,
  changed: undefined,
  isByTimes: false,
  untilMonotonic: 5_000,
  closesAtMonotonic: undefined,
  reportAt: 0,
} as const;
const blockers = { eventIds: [], waitingFor: undefined, repeatAt: 9_000 };

const of = (memory: Partial<WorkloadMemory>, outcome: Parameters<typeof resultOf>[1]) =>
  resultOf({ ...newMemory(), ...memory }, outcome, 1_000, () => 1);

describe("the result of a run", () => {
  it.each([
    ["a bug", {}, { type: "bug" }, { type: "retry", maxMs: 300_000 }],
    ["nothing to write", {}, done, { type: "done" }],
    ["a hold that ends", { hold }, done, { type: "requeueAfter", delayMs: 4_000 }],
    ["a due write that is held", {}, held, { type: "deferred" }],
    ["a due write that is held for a while", { hold }, held, { type: "deferred", delayMs: 4_000 }],
    [
      "a hold whose end is past",
      { hold: { ...hold, untilMonotonic: 900 } },
      done,
      { type: "requeueAfter", delayMs: 10 },
    ],
    [
      "a hold that is not reported yet",
      { hold: { ...hold, untilMonotonic: undefined, reportAt: 3_000 } },
      done,
      { type: "requeueAfter", delayMs: 2_000 },
    ],
    ["a reported blocker", { blockers }, done, { type: "requeueAfter", delayMs: 8_000 }],
    [
      "caches that are behind",
      { disagreements: 1 },
      { ...done, cachesBehind: true },
      { type: "requeueAfter", delayMs: 200 },
    ],
    [
      "caches that never agree",
      { disagreements: 15 },
      { ...done, cachesBehind: true },
      { type: "requeueAfter", delayMs: 300_000 },
    ],
    ["no write permit", {}, { type: "permitPending" }, { type: "deferred" }],
    ["a workload that is gone", {}, { type: "gone" }, { type: "done" }],
    ["a refused write", {}, { type: "refused", workload: web, message: "no" }, { type: "retry", maxMs: 300_000 }],
    ["a conflict", {}, { type: "conflict", workload: web }, { type: "retry" }],
    ["a lost leadership", {}, { type: "stopped" }, { type: "retry" }],
    [
      "an unavailable API server",
      {},
      { type: "unavailable", workload: web, message: "no", retryAfterMs: 7 },
      { type: "retry", atLeastMs: 7 },
    ],
  ] as const)("follows from %s", (_, memory, outcome, result) => {
    expect(of(memory, outcome)).toEqual(result);
  });
});

it("a workload that waits for its batch between two runs with late caches is retried with growing delays", () => {
  const memory = newMemory();
  const start = { changeSeenAt: undefined, requestedRuns: 0, changes: undefined };
  const behind = { ...done, cachesBehind: true };
  const delays = [behind, held, behind, held, behind].map((outcome) => {
    finish(memory, { start, findings: memory.findings, hold: undefined, blockers: undefined, outcome, now: 1_000 });
    return resultOf(memory, outcome, 1_000, () => 1);
  });
  expect(delays).toMatchObject([{ delayMs: 200 }, {}, { delayMs: 400 }, {}, { delayMs: 800 }]);
});
