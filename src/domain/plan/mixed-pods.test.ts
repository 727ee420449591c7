import { describe, expect, it } from "vitest";
import { decide, planRollout } from "../../../test/support/domain/decisions.ts";
import { configMap, defaultPolicy, lookupOf } from "../../../test/support/domain/objects.ts";
import { defaultFlags, momentAt, noon, outdated } from "../../../test/support/pacing/due.ts";
import { writeRecordedConfig } from "../config/hash.ts";
import { patchFor } from "../patch/workload-patch.ts";

const lookup = lookupOf(configMap("web", { a: "1" }));
const policy = { ...defaultPolicy, pacing: defaultFlags };
const mixed = { mixed: 1, total: 3, cause: "reverted" } as const;
const moment = { ...momentAt(noon), mixed };

/** Returns a workload that was rolled with the current configuration. */
function current(own: Parameters<typeof outdated>[0] = {}) {
  const due = planRollout(outdated(), lookup, policy);
  const hash = "hash" in due ? due.hash : undefined;
  return { ...outdated(own), recordedHash: hash };
}

describe("a workload with the current hash, of which one Pod may run another configuration", () => {
  it("is rolled, and keeps its hash", () => {
    const workload = current();
    expect(decide({ workload, lookup, policy, moment: momentAt(noon) }).outcome).toBe("current");
    const plan = decide({ workload, lookup, policy, moment, batchHold: () => undefined });
    expect(plan).toMatchObject({ outcome: "roll", reason: "1 of 3 Pods may run configuration that was reverted" });
    const written = patchFor(workload, plan, noon)?.filter(({ op }) => op !== "test");
    expect(written?.map(({ path }) => path)).toEqual([
      "/metadata/annotations/wave.pusher.com~1cause",
      "/spec/template/metadata/annotations/wave.pusher.com~1rolled-at",
    ]);
  });

  it.each([
    [{ hold: "true" }, "hold"],
    [{ mode: "observe" }, "observed"],
    [{ window: "Mon 01:00-02:00" }, "window"],
    [{ mode: "approve" }, undefined],
  ] as const)("is held with %j by %s", (own, reason) => {
    const plan = decide({ workload: current({ policy: own }), lookup, policy, moment });
    expect(plan.outcome === "held" ? plan.hold.reason : undefined).toBe(reason);
  });

  it("is rolled without a hash if its configuration is recorded beside the pod template", () => {
    const { recordedHash: hash = "" } = current();
    const recordedConfig = writeRecordedConfig({ recorded: "", hash });
    const beside = { ...outdated(), recordedHash: undefined, recordedConfig };
    const plan = decide({ workload: beside, lookup, policy, moment });
    if (plan.outcome !== "roll") throw new Error(`${plan.outcome}: ${plan.reason}`);
    expect(JSON.stringify(patchFor(beside, plan, noon))).not.toContain(plan.hash);
  });

  it("is not rolled for its Pods if its configuration differs: then all Pods are replaced anyway", () => {
    const plan = decide({ workload: outdated(), lookup, policy, moment });
    expect(plan).not.toHaveProperty("again");
  });
});
