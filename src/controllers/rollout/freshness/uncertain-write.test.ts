import { expect, it } from "vitest";
import { planRollout } from "../../../../test/support/domain/decisions.ts";
import { configMap, defaultPolicy, lookupOf, readsAll, workload } from "../../../../test/support/domain/objects.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import type { RolloutPlan } from "../../../domain/outcomes/outcomes.ts";
import { soleLeadership } from "../../../runtime/write-permits.ts";
import { RememberedViews } from "../memory/remembered-views.ts";
import { newFindings } from "../memory/workload-memory.ts";
import { outcomeWithoutCache, outcomeWithoutWrite, rememberUncertainWrite, writtenOutcome } from "./uncertain-write.ts";

const key = "Deployment/default/web";
const pod = readsAll("ConfigMap", "web");
const before = workload({ pod });
const lookup = (value: string) => lookupOf(configMap("web", { a: value }));
const written = planRollout(before, lookup("1"), defaultPolicy);
const hash = "hash" in written ? written.hash : "";
const after = workload({ pod, templateAnnotations: { "wave.pusher.com/config-hash": hash } });
const current = planRollout(after, lookup("1"), defaultPolicy);
const otherWorkload = workload({
  pod,
  templateAnnotations: { "wave.pusher.com/config-hash": hashOf(planRollout(before, lookup("2"), defaultPolicy)) },
});
const other = planRollout(otherWorkload, lookup("2"), defaultPolicy);
const cleanUp: RolloutPlan = { outcome: "cleanUp", reason: "opted out", warnings: [] };
const held = { outcome: "held", due: written, hold: {}, reason: "", warnings: [] } as unknown as RolloutPlan;
const waits = { ...before, pausedByReloader: true };

function hashOf(plan: RolloutPlan): string {
  return "hash" in plan ? plan.hash : "";
}

interface Case {
  readonly when: string;
  /** The workload and the plan of the uncertain write. */
  readonly uncertain: readonly [Workload, RolloutPlan] | undefined;
  /** The workload and the plan of the run. */
  readonly now: readonly [Workload, RolloutPlan];
  readonly type: "done" | "written";
  /** Whether the uncertain write is still to be found. */
  readonly stays: boolean;
}

const cases: readonly Case[] = [
  { when: "no write is uncertain", uncertain: undefined, now: [after, current], type: "done", stays: false },
  { when: "its hash is current", uncertain: [before, written], now: [after, current], type: "written", stays: false },
  {
    when: "another hash is current",
    uncertain: [before, written],
    now: [otherWorkload, other],
    type: "done",
    stays: false,
  },
  { when: "a write is held", uncertain: [before, written], now: [before, held], type: "done", stays: true },
  { when: "it removed the pause", uncertain: [waits, cleanUp], now: [before, cleanUp], type: "written", stays: false },
  { when: "the pause is still there", uncertain: [waits, cleanUp], now: [waits, cleanUp], type: "done", stays: false },
  {
    when: "the workload was created again",
    uncertain: [waits, cleanUp],
    now: [{ ...before, uid: "another" }, cleanUp],
    type: "done",
    stays: false,
  },
];

it.for(cases)("reports an uncertain write as $type if $when", ({ uncertain, now: [of, plan], type, stays }) => {
  const findings = newFindings();
  if (uncertain !== undefined) rememberUncertainWrite(findings, ...uncertain, false, 7);
  const outcome = outcomeWithoutWrite(key, findings, of, plan, new RememberedViews(() => {}));
  expect(outcome.type).toBe(type);
  if (outcome.type === "written") expect(outcome.before).toBe(uncertain?.[0]);
  expect(findings.uncertainWrite !== undefined).toBe(stays);
  const isRollout = type === "written" && uncertain?.[1].outcome === "firstHash";
  expect(findings.lastWrite?.at).toBe(isRollout ? 7 : undefined);
});

const storedAfterCleanUp: readonly [string, Workload | undefined, "gone" | "written"][] = [
  ["is gone", undefined, "gone"],
  ["has no pause any more", before, "written"],
  ["still has the pause", waits, "gone"],
  ["was created again", { ...before, uid: "another" }, "gone"],
];

it.for(storedAfterCleanUp)(
  "finds out whether a clean-up arrived if the stored workload %s",
  async ([, stored, type]) => {
    const findings = newFindings();
    rememberUncertainWrite(findings, waits, cleanUp, false, 0);
    const live = { workload: async () => stored } as unknown as Parameters<typeof outcomeWithoutCache>[1]["live"];
    const leadership = soleLeadership(new AbortController().signal);
    expect((await outcomeWithoutCache(findings, { live, leadership })).type).toBe(type);
    expect(findings.uncertainWrite).toBeUndefined();
  },
);

it("reads nothing for a workload that left the caches without an uncertain clean-up", async () => {
  const findings = newFindings();
  rememberUncertainWrite(findings, before, written, false, 0);
  const leadership = soleLeadership(new AbortController().signal);
  expect(await outcomeWithoutCache(findings, { live: {} as never, leadership })).toEqual({ type: "gone" });
});

it("forgets an uncertain write after a write with a response", () => {
  const findings = newFindings();
  rememberUncertainWrite(findings, before, written, false, 0);
  const views = new RememberedViews(() => {});
  expect(writtenOutcome(key, findings, before, written, views)).toMatchObject({ type: "written", before });
  expect(findings.uncertainWrite).toBeUndefined();
  expect(views.of(key)).toBeDefined();
});
