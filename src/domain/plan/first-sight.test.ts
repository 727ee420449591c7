import { describe, expect, it } from "vitest";
import { applyJsonPatch } from "../../../sandbox/patches/json-patch.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  readsAll,
  type WorkloadFixture,
  workloadObject,
} from "../../../test/support/domain/objects.ts";
import { momentAt } from "../../../test/support/pacing/due.ts";
import type { Config } from "../config/digest.ts";
import { kinds } from "../model/kinds/apps-kinds.ts";
import { toWorkload, type WorkloadObject } from "../model/workload.ts";
import { patchFor } from "../patch/workload-patch.ts";
import { toNamespacePolicy } from "../policy/namespace-policy.ts";
import type { Policy } from "../policy/policy.ts";
import { decide } from "./decide.ts";
import { planRollout } from "./plan.ts";

const pod = readsAll("ConfigMap", "web");
const firstSight = "wave.pusher.com/first-sight";
const recordingNamespace = toNamespacePolicy({ metadata: { annotations: { [firstSight]: "record" } } });
const recording: Policy = { ...defaultPolicy, firstSight: "record" };
const web = (value: string) => configMap("web", { a: value });
const plan = (object: WorkloadObject, config = web("1"), policy = recording) =>
  planRollout(toWorkload(kinds.Deployment, object, policy), lookupOf(config), policy);

/** Returns the object with a patch, or unchanged without one. */
function patched(object: WorkloadObject, patch: unknown): WorkloadObject {
  const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));
  return patch === undefined ? object : asJson(applyJsonPatch(asJson(object), asJson(patch)));
}

/** Returns the workload after the write of its plan. */
function written(object: WorkloadObject, config = web("1")): WorkloadObject {
  return patched(object, patchFor(toWorkload(kinds.Deployment, object, recording), plan(object, config)));
}

describe("a workload at first sight", () => {
  const seen = written(workloadObject({ pod }));

  it("keeps its pod template if the current configuration is recorded", () => {
    expect(seen.spec).toEqual(workloadObject({ pod }).spec);
    expect(plan(seen).outcome).toBe("current");
  });

  it("gets a hash with the first change, which removes the recorded configuration", () => {
    expect(plan(seen, web("2")).outcome).toBe("roll");
    const rolled = written(seen, web("2"));
    expect(rolled.spec?.template?.metadata?.annotations).toEqual({
      "wave.pusher.com/config-hash": expect.stringMatching(/^v2:/),
    });
    expect(rolled.metadata?.annotations).toEqual(workloadObject({ pod }).metadata?.annotations);
    expect(plan(rolled, web("2")).outcome).toBe("current");
    expect(plan(rolled, web("1")).outcome).toBe("roll");
  });

  it("does not roll if an object is ignored and then tracked again", () => {
    const envFrom = ["web", "other"].map((name) => ({ configMapRef: { name } }));
    const both = workloadObject({ pod: { containers: [{ name: "web", envFrom }] } });
    const other = (ignored: boolean) =>
      configMap("other", { b: "1" }, { annotations: ignored ? { "wave.pusher.com/ignore": "true" } : {} });
    const step = (object: WorkloadObject, ...configs: readonly Config[]) => {
      const workload = toWorkload(kinds.Deployment, object, recording);
      const next = planRollout(workload, lookupOf(...configs), recording);
      return { outcome: next.outcome, object: patched(object, patchFor(workload, next)) };
    };
    const first = step(both, web("1"), other(false));
    const without = step(first.object, web("1"), other(true));
    const again = step(without.object, web("1"), other(false));
    expect([first, without, again].map(({ outcome }) => outcome)).toEqual(["recorded", "recorded", "recorded"]);
    expect(again.object.spec).toEqual(both.spec);
    expect(step(without.object, web("1"), other(true)).outcome).toBe("current");
    expect(step(again.object, web("2"), other(false)).outcome).toBe("roll");
  });

  it("keeps the recorded configuration when the policy changes", () => {
    expect(plan(seen, web("1"), defaultPolicy).outcome).toBe("current");
  });

  it("gets a hash if its Pods are pending: they are replaced anyway", () => {
    const held = { ...pod, schedulerName: "wave.pusher.com/invalid" };
    expect(plan(workloadObject({ pod: held })).outcome).toBe("firstHash");
  });

  describe("that is new, if an object is edited around its creation", () => {
    const created = Date.UTC(2026, 0, 1, 12);
    const time = (ms: number) => new Date(created + ms).toISOString().replace(/\.\d+Z$/, "Z");
    const content = { "f:data": {} };
    const entry = (manager: string, ms: number, fieldsV1: object = content) => ({ manager, time: time(ms), fieldsV1 });
    const planAt = (ms: number, metadata: Record<string, unknown>, wanted: WorkloadFixture = {}) => {
      const object = workloadObject({ pod, metadata: { creationTimestamp: time(0) }, ...wanted });
      const lookup = lookupOf(configMap("web", { a: "1" }, { creationTimestamp: time(-3_600_000), ...metadata }));
      const workload = toWorkload(kinds.Deployment, object);
      return decide({ workload, lookup, policy: recording, moment: momentAt(created + ms) });
    };

    it("replaces its Pods after a later edit of content", () => {
      expect(planAt(1_500, { managedFields: [entry("kubectl-edit", 1_000)] })).toMatchObject({
        outcome: "firstHash",
        reason: 'ConfigMap "web" changed after the workload was created',
      });
    });

    it("records, and reports that an edit in the second of the creation is unclear", () => {
      expect(planAt(150, { managedFields: [entry("kubectl-edit", 0)] })).toMatchObject({
        outcome: "recorded",
        reason:
          'Wave sees the workload for the first time; ConfigMap "web" changed in the second in which the workload was created, so its Pods may have read the earlier content',
      });
    });

    it.each([
      ["the edit is older", { managedFields: [entry("kubectl-edit", -1_000)] }, 1_500],
      ["only a label changed", { managedFields: [entry("kubectl-label", 1_000, { "f:metadata": {} })] }, 1_500],
      [
        "the object was created with the workload",
        { creationTimestamp: time(0), managedFields: [entry("helm", 0)] },
        1_500,
      ],
      [
        "the object was created after the workload",
        { creationTimestamp: time(2_000), managedFields: [entry("helm", 2_000)] },
        2_500,
      ],
      ["the workload ran before Wave did", { managedFields: [entry("kubectl-edit", 1_000)] }, 61_000],
    ])("records if %s", (_, metadata, ms) => {
      expect(planAt(ms, metadata)).toMatchObject({
        outcome: "recorded",
        reason: "Wave sees the workload for the first time",
      });
    });
  });

  it.each<[string, WorkloadFixture, Policy, string]>([
    ["writes a hash by default", {}, defaultPolicy, "firstHash"],
    ["records with the flag", {}, recording, "recorded"],
    ["records with its annotation", { annotations: { [firstSight]: "record" } }, defaultPolicy, "recorded"],
    [
      "records with the annotation of its Namespace",
      {},
      { ...defaultPolicy, namespacePolicy: recordingNamespace },
      "recorded",
    ],
    [
      "prefers its annotation to that of its Namespace",
      { annotations: { [firstSight]: "roll" } },
      { ...defaultPolicy, namespacePolicy: recordingNamespace },
      "firstHash",
    ],
    ["prefers its annotation to the flag", { annotations: { [firstSight]: "roll" } }, recording, "firstHash"],
    [
      "records if annotations of Stakater Reloader opt it in",
      { annotations: { "reloader.stakater.com/auto": "true" } },
      reloader(),
      "recorded",
    ],
    ["prefers the flag to the compatibility", {}, { ...reloader(), firstSight: "roll" }, "firstHash"],
    ["writes a hash if only annotations of Wave opt it in", {}, reloader(), "firstHash"],
  ])("%s", (_, wanted, policy, outcome) => {
    expect(plan(workloadObject({ pod, ...wanted }), web("1"), policy).outcome).toBe(outcome);
  });
});

function reloader(): Policy {
  const own = { autoReloadAll: false, reloadOnCreate: false, reloadOnDelete: false };
  return { ...defaultPolicy, compatibility: { understood: ["wave", "stakater"], ...own } };
}
