import { describe, expect, it } from "vitest";
import { configMap, defaultPolicy, lookupOf } from "../../../test/support/domain/objects.ts";
import { defaultFlags, momentAt, noon, outdated } from "../../../test/support/pacing/due.ts";
import { decide } from "../plan/decide.ts";
import { type DueDecision, planRollout } from "../plan/plan.ts";
import { heldReason } from "./due-reason.ts";
import { dueWrite } from "./holds.ts";

const edit = (manager: string, seconds: number, ...keys: string[]) => ({
  manager,
  operation: "Update",
  time: new Date(noon + seconds * 1000).toISOString(),
  fieldsV1: { "f:data": Object.fromEntries((keys.length === 0 ? ["a"] : keys).map((key) => [`f:${key}`, {}])) },
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
      const plan = decide({ workload: outdated({ policy: own }), lookup, policy, previous: view, moment });
      expect(plan).toMatchObject({ outcome: "held", reason: `ConfigMap "web" changed (key "a")${edited}` });
    },
  );

  describe("in a process that did not see the change", () => {
    const workload = outdated({ policy: { hold: "true" }, hashWrittenAt: noon / 1000 - 30 });
    const held = (managedFields: object[]) => {
      const after = lookupOf(configMap("web", { a: "new" }, { ...metadata, managedFields }));
      return decide({ workload, lookup: after, policy, moment }).reason;
    };

    it("names object, key and editor", () => {
      expect(held([edit("kubectl-edit", 3), edit("helm", -60)])).toBe(`ConfigMap "web" changed (key "a")${edited}`);
    });

    it("names no key if the API does not show that no other key was changed", () => {
      const unknown = `ConfigMap "web" changed${edited}`;
      expect(held([edit("kubectl-edit", 3)])).toBe(unknown);
      expect(held([edit("kubectl-edit", 3), edit("helm", -30)])).toBe(unknown);
      expect(held([edit("kubectl-edit", 3, "a", "b"), edit("helm", -60)])).toBe(unknown);
      expect(held([{ ...edit("kubectl-edit", 3), operation: "Apply" }, edit("helm", -60)])).toBe(unknown);
    });

    it("does not name an object if only keys that no Pod reads were edited", () => {
      expect(held([edit("kubectl-edit", 3, "gone"), edit("helm", -60)])).toBe(
        "the configuration changed after its hash was recorded",
      );
    });
  });

  it("keeps what the reason has around the changes", () => {
    const write = dueWrite(outdated(), planRollout(outdated(), lookup, policy) as DueDecision, lookup, policy, moment);
    const around = { ...write.decision, prefix: "the hold is removed; ", suffix: ", and more" } as DueDecision;
    const reason = heldReason({ ...write, decision: around }, "");
    expect(reason).toBe(`the hold is removed; ConfigMap "web" changed${edited}, and more`);
  });

  it("names the editor if the change is halted, and not if it is rolled", () => {
    const halted = { reason: "halted", message: "", until: undefined, warning: true } as const;
    const world = { workload: outdated(), lookup, policy, moment };
    expect(decide({ ...world, batchHold: () => halted }).reason).toBe(`ConfigMap "web" changed${edited}`);
    expect(decide(world).reason).toBe('ConfigMap "web" changed');
  });
});
