import { describe, expect, it } from "vitest";
import type { WorkloadObject } from "../../rollout/workload.ts";
import { kubernetesReasonOf } from "./kubernetes-reason.ts";
import { podsWanted, standsSince } from "./workload-state.ts";

describe("what is told of a custom resource whose definition lets anything through", () => {
  it.each(["text", null, 3, [], { conditions: {} }, { conditions: [null, "text", { type: 1 }] }])(
    "is nothing where its status is %j, and no command ends with it",
    (status) => {
      const object = { spec: { replicas: "many" }, status } as unknown as WorkloadObject;
      expect(kubernetesReasonOf(object)).toBeNull();
      expect(standsSince(object, { rolledAt: 7 })).toBe(7_000);
      expect(podsWanted(object)).toBe(1);
    },
  );

  it("is what it says in the fields of built-in kinds", () => {
    const conditions = [{ type: "Progressing", status: "True", lastUpdateTime: "2026-01-31T12:00:00Z" }];
    const object = { spec: { replicas: 3 }, status: { conditions } } as WorkloadObject;
    expect(standsSince(object, { rolledAt: 7 })).toBe(Date.parse("2026-01-31T12:00:00Z"));
    expect(podsWanted(object)).toBe(3);
    expect(podsWanted({ status: { desiredNumberScheduled: 2 } } as WorkloadObject)).toBe(2);
  });
});
