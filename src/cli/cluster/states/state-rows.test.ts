import { describe, expect, it } from "vitest";
import type { WorkloadObject } from "../../../domain/model/workload-references.ts";
import { kubernetesReasonOf, withKubernetesReason } from "./state-rows.ts";

const reasonOf = (status: unknown) => kubernetesReasonOf({ status } as WorkloadObject);

describe("the reason why Kubernetes cannot create Pods", () => {
  it("is the cause rather than its consequence", () => {
    const late = { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: "timed out" };
    const refused = { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: "exceeded quota" };
    expect(reasonOf({ conditions: [late, refused] })).toEqual({ reason: "FailedCreate", message: "exceeded quota" });
    expect(reasonOf({ conditions: [late, { ...refused, status: "False" }] })?.reason).toBe("ProgressDeadlineExceeded");
  });

  it.each([
    undefined,
    null,
    {},
    { conditions: null },
    { conditions: "many" },
    { conditions: [null, 1, {}, { type: "Progressing", status: "True", reason: "NewReplicaSetAvailable" }] },
  ])("is null for %j", (status) => {
    expect(reasonOf(status)).toBeNull();
  });

  it("is one line of limited length, also if a custom resource lacks fields", () => {
    expect(reasonOf({ conditions: [{ type: "FailedScale", status: "True" }] })).toEqual({
      reason: "FailedScale",
      message: "",
    });
    const message = "x".repeat(100_000);
    const long = reasonOf({
      conditions: [{ type: "ReplicaFailure", status: "True", reason: "FailedCreate", message }],
    });
    expect(withKubernetesReason("late", long).length).toBeLessThan(500);
  });
});
