import { expect, it } from "vitest";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  readsAll,
  type WorkloadFixture,
  workloadObject,
} from "../../../test/support/domain/objects.ts";
import { planRollout } from "../plan/plan.ts";
import type { Policy } from "../policy/policy.ts";
import { matchesObject } from "./cached-workload.ts";
import { kinds } from "./kinds/apps-kinds.ts";
import { toWorkload } from "./workload.ts";

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
