import { describe, expect, it } from "vitest";
import { applyJsonPatch } from "../../../sandbox/patches/json-patch.ts";
import { planRollout } from "../../../test/support/domain/decisions.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  readsAll,
  type WorkloadFixture,
  workloadObject,
} from "../../../test/support/domain/objects.ts";
import { planAdmission, toAdmissionObject } from "../admission/admission.ts";
import { matchesObject } from "../model/cached-workload.ts";
import { kinds } from "../model/kinds/apps-kinds.ts";
import { invalidScheduler } from "../model/scheduling-hold.ts";
import { toWorkload } from "../model/workload.ts";
import type { WorkloadObject } from "../model/workload-references.ts";
import { patchFor } from "../patch/workload-patch.ts";
import { type NamespacePolicy, type Policy, toNamespacePolicy } from "./policy.ts";

const optIn = "wave.pusher.com/update-on-config-change";
const hash = "wave.pusher.com/config-hash";
const streak = "wave.pusher.com/consecutive-rollouts";
const pod = readsAll("ConfigMap", "web");
const web = configMap("web", { a: "1" });

const decides = (optsIn: boolean): NamespacePolicy => ({ ...toNamespacePolicy({}), optsIn });
const optingIn = () => decides(true);
const policyOf = (namespacePolicy: NamespacePolicy | undefined): Policy => ({
  ...defaultPolicy,
  namespacePolicyOf: () => namespacePolicy,
});
const silent: WorkloadFixture = { pod, metadata: { annotations: undefined } };
const ofOthers: WorkloadFixture = { pod, metadata: { annotations: { other: "x" } } };
const saying = (value: string): WorkloadFixture => ({ pod, annotations: { [optIn]: value } });

const planned = (object: WorkloadObject, namespacePolicy: NamespacePolicy | undefined) =>
  planRollout(
    toWorkload(kinds.Deployment, object, { namespacePolicyOf: () => namespacePolicy }),
    lookupOf(web),
    policyOf(namespacePolicy),
  );

/** What the API server makes of a patch. */
function applied(object: WorkloadObject, patch: unknown): WorkloadObject {
  const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));
  return asJson(applyJsonPatch(asJson(object), asJson(patch)));
}

describe("a Namespace that opts in", () => {
  it.each([
    ["no annotations", silent, { state: "in", by: "namespace" }],
    ["annotations of others", ofOthers, { state: "in", by: "namespace" }],
    ["its own opt-in", saying("true"), { state: "in", by: "workload" }],
    ["its own refusal", saying("false"), { state: "out" }],
    ["an empty answer", saying(""), { state: "out" }],
    ["an unclear answer", saying("yes"), { state: "unclear", value: "yes" }],
  ])("opts in workloads without their own annotation: with %s", (_, wanted, expected) => {
    const workload = toWorkload(kinds.Deployment, workloadObject(wanted), { namespacePolicyOf: optingIn });
    expect(workload.optIn).toEqual(expected);
    expect(workload.references).toHaveLength(expected.state === "in" ? 1 : 0);
  });

  it("writes their first hash, and removes nothing from a workload that opts in itself", () => {
    expect(planned(workloadObject(silent), decides(true)).outcome).toBe("firstHash");
    expect(planned(workloadObject(silent), decides(false)).outcome).toBe("ignore");
    expect(planned(workloadObject(saying("true")), decides(false)).outcome).toBe("firstHash");
  });

  it("no longer applies after it opts out, even to workloads that were read before", () => {
    const before = toWorkload(kinds.Deployment, workloadObject(silent), { namespacePolicyOf: optingIn });
    for (const namespacePolicy of [decides(false), undefined]) {
      const namespacePolicyOf = () => namespacePolicy;
      expect(planRollout(before, lookupOf(web), policyOf(namespacePolicy)).outcome).toBe("ignore");
      expect(matchesObject(before, workloadObject(silent), { namespacePolicyOf })).toBe(false);
    }
    expect(matchesObject(before, workloadObject(silent), { namespacePolicyOf: optingIn })).toBe(true);
  });

  it("leaves no scheduling hold behind after it opts out", () => {
    const held = workloadObject({ ...silent, pod: { ...pod, schedulerName: invalidScheduler } });
    const before = toWorkload(kinds.Deployment, held, { namespacePolicyOf: optingIn });
    const plan = planRollout(before, lookupOf(), policyOf(decides(false)));
    expect(plan.outcome).toBe("cleanUp");
    expect(applied(held, patchFor(before, plan)).spec?.template?.spec?.schedulerName).toBeUndefined();
  });
});

describe("a write to a workload without annotations", () => {
  const object = workloadObject(silent);
  const workload = toWorkload(kinds.Deployment, object, { namespacePolicyOf: optingIn });
  const hashed = (wanted: WorkloadFixture) =>
    workloadObject({ ...wanted, templateAnnotations: { [hash]: currentHash() } }).spec?.template;
  const currentHash = () => {
    const plan = planned(object, decides(true));
    return "hash" in plan ? plan.hash : "";
  };

  it("writes the hash, and adds only its digests", () => {
    const { metadata, spec } = applied(object, patchFor(workload, planned(object, decides(true))));
    expect(spec?.template).toEqual(hashed(silent));
    expect(Object.keys(metadata?.annotations ?? {})).toEqual(["wave.pusher.com/config-digests"]);
  });

  it("adds annotations if it records something", () => {
    const plan = planned(object, decides(true));
    if (plan.outcome !== "firstHash") throw new Error(plan.reason);
    const written = applied(
      object,
      patchFor(workload, { ...plan, outcome: "recorded", cause: "key", newPods: plan.view }),
    );
    expect(Object.keys(written.metadata?.annotations ?? {})).toEqual([
      "wave.pusher.com/recorded-config",
      "wave.pusher.com/config-digests",
    ]);
  });

  it.each<[string, WorkloadFixture]>([
    ["has opted out", saying("false")],
    ["has annotations of others", ofOthers],
    ["has a number of consecutive rollouts", { pod, metadata: { annotations: { [streak]: "2" } } }],
  ])("fails if it %s meanwhile", (_, now) => {
    const patch = patchFor(workload, planned(object, decides(true)));
    expect(() => applied(workloadObject(now), patch)).toThrow();
  });

  it("fails if it had no Wave annotation, and has its own opt-in meanwhile", () => {
    const others = workloadObject(ofOthers);
    const patch = patchFor(
      toWorkload(kinds.StatefulSet, others, { namespacePolicyOf: optingIn }),
      planned(others, decides(true)),
    );
    expect(applied(others, patch).spec?.template).toEqual(hashed(ofOthers));
    expect(() => applied(workloadObject(saying("false")), patch)).toThrow();
    expect(() => applied(workloadObject(silent), patch)).toThrow();
  });
});

describe("admission in a Namespace that opts in", () => {
  const admit = (object: WorkloadObject, configs = [web]) => {
    const after = toAdmissionObject(kinds.Deployment, object, { namespacePolicyOf: optingIn });
    return planAdmission("CREATE", after, undefined, lookupOf(...configs), policyOf(decides(true)));
  };

  it("starts with the hash", () => {
    const object = workloadObject(silent);
    const { outcome, patch } = admit(object);
    expect(outcome).toBe("hashed");
    expect(applied(object, patch).spec?.template?.metadata?.annotations?.[hash]).toMatch(/^v2:/);
  });

  it("adds the scheduling hold of a workload without annotations, and changes nothing the second time", () => {
    const object = workloadObject(silent);
    const { outcome, patch } = admit(object, []);
    expect(outcome).toBe("schedulingHeld");
    const schedulingHeld = applied(object, patch);
    expect(schedulingHeld.metadata?.annotations).toEqual({
      "wave.pusher.com/scheduling-disabled": "default-scheduler",
    });
    expect(schedulingHeld.spec?.template?.spec?.schedulerName).toBe(invalidScheduler);
    expect(admit(schedulingHeld, []).patch).toBeUndefined();
  });
});
