import { describe, expect, it } from "vitest";
import { readsAll, workload, workloadObject } from "../../../test/support/domain/objects.ts";
import { kinds } from "./kinds/apps-kinds.ts";
import { toWorkload } from "./workload.ts";
import { collectReferences } from "./workload-references.ts";
import { parseWorkloadKey, workloadKey } from "./workload-shape.ts";

const optIn = "wave.pusher.com/update-on-config-change";

describe("toWorkload", () => {
  it.each([
    ["true", "in"],
    ["false", "out"],
    ["", "out"],
    [undefined, "out"],
    ["True", "unclear"],
    ["yes", "unclear"],
    ["1", "unclear"],
    [" true", "unclear"],
  ])("reads the opt-in %j as %s", (value, state) => {
    expect(workload({ annotations: { [optIn]: value } }).optIn.state).toBe(state);
  });

  it("keeps no references of a workload that has not opted in", () => {
    const pod = readsAll("Secret", "db");
    expect(workload({ pod }).references).toHaveLength(1);
    expect(workload({ pod, annotations: { [optIn]: "false" } }).references).toEqual([]);
    expect(collectReferences(workloadObject({ pod, annotations: { [optIn]: "false" } }))).toHaveLength(1);
  });

  it("reads hash, scheduler and scheduling hold", () => {
    expect(
      workload({
        annotations: { "wave.pusher.com/scheduling-disabled": "" },
        templateAnnotations: { "wave.pusher.com/config-hash": "v2:abc" },
        pod: { schedulerName: "wave.pusher.com/invalid" },
      }),
    ).toMatchObject({
      recordedHash: "v2:abc",
      hasTemplateAnnotations: true,
      schedulerName: "wave.pusher.com/invalid",
      schedulerToRestore: "",
      mistakes: [],
    });
    expect(workload()).toMatchObject({ hasTemplateAnnotations: false, generation: 3, deleting: false });
    expect(workload().schedulerToRestore).toBeUndefined();
    expect(workload({ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }).deleting).toBe(true);
  });

  it("reads the last other manager and the time of the last write by Wave", () => {
    const entry = (manager: string, time: string, subresource?: string) => ({ manager, time, subresource });
    const managedFields = [
      entry("helm", "2026-01-01T00:00:01Z"),
      entry("wave", "2026-01-01T00:00:02Z"),
      entry("argocd", "2026-01-01T00:00:03Z"),
      entry("wave", "2026-01-01T00:00:09Z", "status"),
      entry("kube-controller-manager", "2026-01-01T00:00:09Z", "status"),
      entry("kubectl", "no time"),
      entry("wave-owner-references", "2026-01-01T00:00:09Z"),
    ];
    const rolledAt = Date.UTC(2026, 0, 1, 0, 0, 2) / 1000;
    const rolled = { rolledAt, hashWrittenAt: rolledAt, editedBy: "argocd" };
    expect(workload({ metadata: { managedFields } })).toMatchObject(rolled);
    const recorded = [...managedFields, entry("wave-recorded-config", "2026-01-01T00:00:08Z")];
    expect(workload({ metadata: { managedFields: recorded } })).toMatchObject({
      ...rolled,
      hashWrittenAt: rolledAt + 6,
    });
    expect(workload()).toMatchObject({ rolledAt: 0, editedBy: undefined });
  });

  it("reads its policy annotations", () => {
    const annotations = { "wave.pusher.com/hold": "true", "wave.pusher.com/consecutive-rollouts": "3" };
    expect(workload({ annotations })).toMatchObject({ policy: { hold: "true" }, consecutiveRollouts: "3" });
    expect(workload()).toMatchObject({ policy: {}, consecutiveRollouts: undefined });
  });

  it("accepts a workload during creation, without uid, generation or name", () => {
    const metadata = { uid: undefined, generation: undefined, name: undefined, generateName: "web-" };
    expect(workload({ metadata })).toMatchObject({ uid: "", generation: 0, name: "" });
  });

  it.each([
    [{ "wave.pusher.com/update-on-configchange": "true" }, {}, `Did you mean ${optIn}?`],
    [{ "wave.pusher.com/extra-secret": "a" }, {}, "Did you mean wave.pusher.com/extra-secrets?"],
    [
      { "wave.pusher.com/delay": "a" },
      {},
      "Valid names after wave.pusher.com/ are update-on-config-change, extra-configmaps, extra-secrets, hold, hold-reason, mode, ",
    ],
    [{ "wave.pusher.com/holds": "true" }, {}, "Did you mean wave.pusher.com/hold?"],
    [{ "wave.pusher.com/ignore": "true" }, {}, "Set it on a ConfigMap or Secret."],
    [
      { "wave.pusher.com/window": "22:00-04:00" },
      {},
      'Annotation wave.pusher.com/window has the invalid value "22:00-04:00". Use DAYS HH:MM-HH:MM and a time zone, such as "Mon-Fri 22:00-04:00 Europe/Berlin", or several separated by semicolons. Wave does not roll the workload until you correct the annotation.',
    ],
    [{ "wave.pusher.com/approved": "yes" }, {}, "0-9 and a-f. The annotation has no effect."],
    [{ "wave.pusher.com/settle": "1".repeat(100) }, {}, "a duration up to 24h"],
    [{ "wave.pusher.com/shared-with": "*" }, {}, "Set it on a ConfigMap or Secret."],
    [{}, { "wave.pusher.com/hold": "true" }, "Move it to the metadata of the workload."],
  ])("warns of annotations that have no effect or are invalid: %j %j", (annotations, templateAnnotations, advice) => {
    const [mistake, ...rest] = workload({ annotations, templateAnnotations }).mistakes;
    expect(mistake?.reason).toBe("InvalidAnnotation");
    expect(mistake?.message).toContain(advice);
    expect(rest).toEqual([]);
  });

  it("warns of a misspelt opt-in", () => {
    const annotations = { [optIn]: undefined, "wave.pusher.com/update-on-config-changes": "true" };
    expect(workload({ annotations }).mistakes).toHaveLength(1);
  });

  it.each([
    [`{"metadata":{"namespace":"shop","name":"web"}}`, /Deployment "shop\/web" is malformed: .*spec.template.spec/],
    [`{"metadata":{"namespace":"shop","name":"web"},"spec":{"template":{"spec":{"containers":5}}}}`, /"shop\/web"/],
    [`{"metadata":{"namespace":"shop"},"spec":{"template":{"spec":{}}}}`, /"shop\/" is malformed: .*metadata.name/],
  ])("rejects a malformed object by name: %s", (json, message) => {
    const object = JSON.parse(json);
    object.metadata.annotations = { [optIn]: "true" };
    expect(() => toWorkload(kinds.Deployment, object)).toThrow(message);
  });
});

describe("workloadKey", () => {
  it("is parsed to the same name", () => {
    expect(workloadKey(workload())).toBe("Deployment/default/web");
    expect(parseWorkloadKey("StatefulSet/a/b.c")).toEqual({ kind: "StatefulSet", namespace: "a", name: "b.c" });
  });

  it.each(["", "/a/b", "Deployment/a", "Deployment/a/b/c", "Deployment//b"])("rejects %j", (key) => {
    expect(() => parseWorkloadKey(key)).toThrow("is not the key of a workload");
  });
});
