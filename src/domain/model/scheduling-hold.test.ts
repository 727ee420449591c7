import { describe, expect, it } from "vitest";
import { applyJsonPatch } from "../../../sandbox/patches/json-patch.ts";
import { allCompatibilities } from "../../../test/support/domain/compatibility.ts";
import { decide, planRollout } from "../../../test/support/domain/decisions.ts";
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
import type { Policy } from "../policy/policy.ts";
import { matchesObject } from "./cached-workload.ts";
import { kinds } from "./kinds/apps-kinds.ts";
import { disownScheduler, invalidScheduler } from "./scheduling-hold.ts";
import { toWorkload } from "./workload.ts";

const row = { template: "/spec/template" };
const fieldsV1 = { "f:spec": { "f:template": { "f:spec": { "f:schedulerName": {} } } } };

const disown = (schedulerName: string | undefined, ...managers: readonly string[]) =>
  disownScheduler(
    row,
    { managedFields: managers.map((manager) => ({ manager, operation: "Update", fieldsV1 })) },
    schedulerName,
  );

describe("after a scheduling hold", () => {
  it.each(["wave", "wave-recorded-config"])(
    "%s gives up only its own field, if the entry is still there",
    (manager) => {
      expect(disown("default-scheduler", "kubectl", manager)).toEqual([
        { op: "test", path: "/metadata/managedFields/1/manager", value: manager },
        { op: "remove", path: "/metadata/managedFields/1/fieldsV1/f:spec/f:template/f:spec/f:schedulerName" },
      ]);
    },
  );

  it("nothing is given up during the hold, or if another client has set the scheduler", () => {
    expect(disown(invalidScheduler, "wave")).toBeUndefined();
    expect(disown("other", "kubectl")).toBeUndefined();
    expect(disownScheduler(row, {}, undefined)).toBeUndefined();
  });
});

const finalizers = ["example.com/other", "wave.pusher.com/finalizer"];
const pod = readsAll("ConfigMap", "web");

function plan(wanted: WorkloadFixture, policy: Policy = defaultPolicy) {
  const workload = toWorkload(kinds.Deployment, workloadObject({ pod, ...wanted }));
  return planRollout(workload, lookupOf(configMap("web", { a: "1" })), policy);
}

it.each<[string, WorkloadFixture]>([
  ["that is rolled", { metadata: { finalizers, annotations: { "wave.pusher.com/update-on-config-change": "true" } } }],
  ["that has not opted in", { metadata: { finalizers, annotations: {} } }],
  ["that is being deleted", { metadata: { finalizers, deletionTimestamp: "2026-01-01T00:00:00Z" } }],
])("a finalizer of an old Wave version causes a warning on a workload %s", (_, wanted) => {
  expect(plan(wanted).warnings).toMatchObject([
    {
      reason: "OldFinalizer",
      message: expect.stringMatching(/^Finalizer wave.pusher.com\/finalizer .*ownerReferences/),
    },
  ]);
});

it.each(["keep", "remove"] as const)("the warning is absent if Wave manages ownership: %s", (ownership) => {
  expect(plan({ metadata: { finalizers } }, { ...defaultPolicy, ownership }).warnings).toEqual([]);
});

it("a finalizer of another controller causes no warning", () => {
  expect(plan({ metadata: { finalizers: ["example.com/other"] } }).warnings).toEqual([]);
});

it("its removal is noticed, although it raises no generation", () => {
  const before = toWorkload(kinds.Deployment, workloadObject({ pod, metadata: { finalizers } }));
  expect(matchesObject(before, workloadObject({ pod, metadata: { finalizers } }))).toBe(true);
  expect(matchesObject(before, workloadObject({ pod }))).toBe(false);
});

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
