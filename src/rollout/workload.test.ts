import { describe, expect, it } from "vitest";
import { readsAll, type Wanted, workload, workloadObject } from "./test-objects.ts";
import { isMadeOf, parseWorkloadKey, sameWorkload, toWorkload, workloadKey } from "./workload.ts";
import { collectReferences } from "./workload-references.ts";

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

  it("reads hash, scheduler and gate", () => {
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
      disabledScheduler: "",
      mistakes: [],
    });
    expect(workload()).toMatchObject({ hasTemplateAnnotations: false, generation: 3, deleting: false });
    expect(workload().disabledScheduler).toBeUndefined();
    expect(workload({ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }).deleting).toBe(true);
  });

  it("takes a workload under creation, which has no uid, generation or even name", () => {
    const metadata = { uid: undefined, generation: undefined, name: undefined, generateName: "web-" };
    expect(workload({ metadata })).toMatchObject({ uid: "", generation: 0, name: "" });
  });

  it.each([
    [{ "wave.pusher.com/update-on-configchange": "true" }, {}, `did you mean ${optIn}?`],
    [{ "wave.pusher.com/extra-secret": "a" }, {}, "did you mean wave.pusher.com/extra-secrets?"],
    [
      { "wave.pusher.com/delay": "a" },
      {},
      `those that you can write are ${optIn}, wave.pusher.com/extra-configmaps, wave.pusher.com/extra-secrets`,
    ],
    [{ "wave.pusher.com/shared-with": "*" }, {}, "write it on a ConfigMap or Secret"],
    [{}, { [optIn]: "true" }, "write it on the workload's own metadata"],
  ])("tells of annotations that do nothing: %j %j", (annotations, templateAnnotations, advice) => {
    const [mistake, ...rest] = workload({ annotations, templateAnnotations }).mistakes;
    expect(mistake?.reason).toBe("InvalidAnnotation");
    expect(mistake?.message).toContain(advice);
    expect(rest).toEqual([]);
  });

  it("tells of a misspelt opt-in, which leaves a workload out", () => {
    const annotations = { [optIn]: undefined, "wave.pusher.com/update-on-config-changes": "true" };
    expect(workload({ annotations }).mistakes).toHaveLength(1);
  });

  it.each([
    [`{"metadata":{"namespace":"shop","name":"web"}}`, /Deployment "shop\/web" is malformed: .*spec.template.spec/],
    [`{"metadata":{"namespace":"shop","name":"web"},"spec":{"template":{"spec":{"containers":5}}}}`, /"shop\/web"/],
    [`{"metadata":{"namespace":"shop"},"spec":{"template":{"spec":{}}}}`, /"shop\/" is malformed: .*metadata.name/],
  ])("refuses what is malformed by name: %s", (json, message) => {
    const object = JSON.parse(json);
    object.metadata.annotations = { [optIn]: "true" };
    expect(() => toWorkload("Deployment", object)).toThrow(message);
  });
});

describe("sameWorkload", () => {
  const before = workload({ pod: readsAll("Secret", "db") });

  it("sees no difference in labels, other annotations, status and resource version", () => {
    const metadata = { labels: { a: "b" }, resourceVersion: "8" };
    expect(
      sameWorkload(before, workload({ pod: readsAll("Secret", "db"), annotations: { other: "x" }, metadata })),
    ).toBe(true);
  });

  it.each([
    ["a reference", { pod: readsAll("Secret", "other") }],
    ["its being optional", { pod: readsAll("Secret", "db", true) }],
    ["the generation", { pod: readsAll("Secret", "db"), metadata: { generation: 4 } }],
    ["the opt-in", { pod: readsAll("Secret", "db"), annotations: { [optIn]: "yes" } }],
    ["the hash", { pod: readsAll("Secret", "db"), templateAnnotations: { "wave.pusher.com/config-hash": "v2:" } }],
  ])("sees a difference in %s", (_, wanted) => {
    expect(sameWorkload(before, workload(wanted))).toBe(false);
  });
});

describe("workloadKey", () => {
  it("goes there and back", () => {
    expect(workloadKey(workload())).toBe("Deployment/default/web");
    expect(parseWorkloadKey("StatefulSet/a/b.c")).toEqual({ kind: "StatefulSet", namespace: "a", name: "b.c" });
  });

  it.each(["", "Pod/a/b", "Deployment/a", "Deployment/a/b/c", "Deployment//b"])("refuses %j", (key) => {
    expect(() => parseWorkloadKey(key)).toThrow("is not the key of a workload");
  });
});

describe("isMadeOf", () => {
  const pod = readsAll("Secret", "db");
  const held = workload({ kind: "StatefulSet", pod });
  const changed = (wanted: Wanted) => workloadObject({ kind: "StatefulSet", pod, ...wanted });

  it("is told without a look at the spec", () => {
    const unreadable = Object.defineProperty(changed({}), "spec", {
      get: () => {
        throw new Error("looked at");
      },
    });
    expect(isMadeOf(held, unreadable)).toBe(true);
  });

  it("is so whatever happened to labels and the annotations of others", () => {
    const metadata = { resourceVersion: "8", labels: { a: "b" } };
    expect(isMadeOf(held, changed({ metadata }))).toBe(true);
    expect(isMadeOf(held, changed({ annotations: { other: "x" } }))).toBe(true);
  });

  it.each<[string, Wanted]>([
    ["the generation", { metadata: { generation: 4 } }],
    ["the object of this name", { metadata: { uid: "2" } }],
    ["its being deleted", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }],
    ["the opt-in", { annotations: { "wave.pusher.com/update-on-config-change": "false" } }],
    ["what else it names", { annotations: { "wave.pusher.com/extra-secrets": "a" } }],
    ["a mistake", { annotations: { [`wave.pusher.com/${"x".repeat(300)}`]: "a" } }],
  ])("is not so any more after a change of %s", (_, wanted) => {
    expect(isMadeOf(held, changed(wanted))).toBe(false);
    expect(isMadeOf(workload({ kind: "StatefulSet", pod, ...wanted }), changed(wanted))).toBe(true);
  });

  it("is never so of an object without a generation", () => {
    const metadata = { generation: undefined };
    expect(isMadeOf(workload({ metadata }), workloadObject({ metadata }))).toBe(false);
  });
});
