import { describe, expect, it } from "vitest";
import { applyJsonPatch } from "../../../sandbox/patches/json-patch.ts";
import { allCompatibilities } from "../../../test/support/domain/compatibility.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  readsAll,
  type WorkloadFixture,
  workloadObject,
} from "../../../test/support/domain/objects.ts";
import type { Moment } from "../pacing/moment.ts";
import { patchFor } from "../patch/workload-patch.ts";
import { decide } from "../plan/decide.ts";
import { planRollout } from "../plan/plan.ts";
import { kinds } from "./kinds/apps-kinds.ts";
import { toWorkload } from "./workload.ts";

const pausedAt = "deployment.reloader.stakater.com/paused-at";
const moment: Moment = { now: 0, changes: undefined, lastWrite: undefined, progressSince: 0 };
const left: WorkloadFixture = {
  pod: readsAll("ConfigMap", "web"),
  annotations: { "reloader.stakater.com/auto": "true", [pausedAt]: "2026-01-01T00:00:00Z" },
  spec: { paused: true },
};

function planned(wanted: WorkloadFixture, policy = allCompatibilities) {
  const workload = toWorkload(kinds[wanted.kind ?? "Deployment"], workloadObject(wanted), policy);
  return { workload, plan: decide({ workload, lookup: lookupOf(configMap("web", { a: "1" })), policy, moment }) };
}

describe("a Deployment that Stakater Reloader left paused", () => {
  it("is unpaused before any other write, and loses the annotation", () => {
    const { workload, plan } = planned(left);
    expect(plan).toMatchObject({ outcome: "cleanUp", reason: expect.stringContaining("left the Deployment paused") });
    const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));
    const after = asJson(applyJsonPatch(asJson(workloadObject(left)), asJson(patchFor(workload, plan))));
    const { paused: _, ...spec } = asJson(workloadObject(left)).spec;
    expect(after.spec).toEqual(spec);
    expect(Object.keys(after.metadata.annotations)).not.toContain(pausedAt);
    expect(planned({ ...left, annotations: after.metadata.annotations, spec: {} }).plan.outcome).toBe("recorded");
  });

  it.each<[string, WorkloadFixture]>([
    ["a person paused it", { ...left, annotations: { "reloader.stakater.com/auto": "true" } }],
    ["it is no longer paused", { ...left, spec: {} }],
  ])("is not unpaused if %s", (_, wanted) => {
    expect(planned(wanted).plan.outcome).toBe("recorded");
  });

  it("stays paused if the compatibility is off", () => {
    expect(planned(left, defaultPolicy).plan.outcome).toBe("firstHash");
  });

  it("is not unpaused by admission, which plans without a moment", () => {
    const { workload } = planned(left);
    expect(planRollout(workload, lookupOf(configMap("web", { a: "1" })), allCompatibilities).outcome).toBe("recorded");
  });
});
