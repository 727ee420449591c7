import { describe, expect, it } from "vitest";
import { configMap, defaultPolicy, lookupOf } from "../../../test/support/domain/objects.ts";
import { defaultFlags, momentAt, noon, outdated } from "../../../test/support/pacing/due.ts";
import { planRollout, withBatchHold } from "../plan/plan.ts";

const edit = (manager: string, seconds: number) => ({
  manager,
  operation: "Update",
  time: new Date(noon + seconds * 1000).toISOString(),
  fieldsV1: { "f:data": { "f:a": {} } },
});
const metadata = {
  creationTimestamp: new Date(noon - 3_600_000).toISOString(),
  managedFields: [edit("kubectl-edit", 3), edit("helm", -60)],
};
const lookup = lookupOf(configMap("web", { a: "new" }, metadata));
const policy = { ...defaultPolicy, pacing: defaultFlags };
const moment = momentAt(noon + 60_000);
const edited = ', last edited by "kubectl-edit"';

describe("the reason of a held rollout", () => {
  it.each([{ hold: "true" }, { mode: "approve" }, { window: "Mon 01:00-02:00" }, { mode: "observe" }])(
    "names object, key and editor with %j",
    (own) => {
      const before = planRollout(outdated(), lookupOf(configMap("web", { a: "old" })), policy);
      const view = "view" in before ? before.view : undefined;
      const plan = planRollout(outdated({ policy: own }), lookup, policy, view, moment);
      expect(plan).toMatchObject({ outcome: "held", reason: `ConfigMap "web" changed (key "a")${edited}` });
    },
  );

  it("names object and editor also in a process that did not see the change", () => {
    const plan = planRollout(outdated({ policy: { hold: "true" } }), lookup, policy, undefined, moment);
    expect(plan).toMatchObject({ outcome: "held", reason: `ConfigMap "web" changed${edited}` });
  });

  it("names the editor if the change is halted, and not if it is rolled", () => {
    const candidate = planRollout(outdated(), lookup, policy, undefined, moment);
    if (candidate.outcome !== "candidate") throw new Error(candidate.outcome);
    const halted = { reason: "halted", message: "", until: undefined, warning: true } as const;
    expect(withBatchHold(candidate, halted).reason).toBe(`ConfigMap "web" changed${edited}`);
    expect(withBatchHold(candidate, undefined).reason).toBe('ConfigMap "web" changed');
  });
});
