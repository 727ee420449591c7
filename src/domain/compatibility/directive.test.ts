import { describe, expect, it } from "vitest";
import { applyJsonPatch } from "../../../sandbox/patches/json-patch.ts";
import {
  allCompatibilities,
  compatibleWith,
  peerObject,
  peerWorkload,
} from "../../../test/support/domain/compatibility.ts";
import { planRollout } from "../../../test/support/domain/decisions.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  readsAll,
  secret,
  type WorkloadFixture,
} from "../../../test/support/domain/objects.ts";
import { planAdmission, toAdmissionObject } from "../admission/admission.ts";
import type { Config } from "../config/digest.ts";
import { matchesObject } from "../model/cached-workload.ts";
import { kinds } from "../model/kinds/apps-kinds.ts";
import { toWorkload } from "../model/workload.ts";
import type { WorkloadObject } from "../model/workload-references.ts";
import { patchFor } from "../patch/workload-patch.ts";
import { configHash, updateOnConfigChange } from "../references/annotations.ts";

const configmaps = "pod-reloader.cs.sap.com/configmaps";
const secrets = "pod-reloader.cs.sap.com/secrets";
const hash = "pod-reloader.cs.sap.com/config-hash";

const sap = compatibleWith("wave", "sap");
const web = configMap("web", { a: "1" });
const db = secret("db", { b: "2" });
const both = { [configmaps]: "web, other", [secrets]: "db" };
const sapWorkload: WorkloadFixture = { annotations: both };

const planOf = (object: WorkloadObject, configs: readonly Config[], policy = sap) =>
  planRollout(toWorkload(kinds.Deployment, object, policy), lookupOf(...configs), policy);

const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));

/** The object after its plan was carried out. */
function carriedOut(object: WorkloadObject, configs: readonly Config[], policy = sap): WorkloadObject {
  const workload = toWorkload(kinds.Deployment, object, policy);
  const patch = patchFor(workload, planRollout(workload, lookupOf(...configs), policy));
  return patch === undefined ? object : asJson(applyJsonPatch(asJson(object), asJson(patch)));
}

const templateAnnotations = (object: WorkloadObject) => object.spec?.template?.metadata?.annotations ?? {};

describe("SAP annotations", () => {
  it("have no effect if the compatibility is off", () => {
    expect(planOf(peerObject(sapWorkload), [web, db], defaultPolicy).outcome).toBe("ignore");
  });

  it("request whole objects, whatever the pod spec reads, and do not wait for missing ones", () => {
    const hashed = carriedOut(peerObject({ ...sapWorkload, pod: readsAll("ConfigMap", "unrelated") }), [web, db]);
    expect(Object.keys(templateAnnotations(hashed))).toEqual([hash]);
    expect(planOf(hashed, [web, db]).outcome).toBe("current");
    for (const changed of [
      [configMap("web", { a: "2" }), db],
      [web, secret("db", {})],
      [web, db, configMap("other", { c: "" })],
      [web],
    ]) {
      expect(planOf(hashed, changed).outcome).toBe("roll");
    }
    expect(planOf(hashed, [web, db, configMap("unrelated", { x: "1" })]).outcome).toBe("current");
  });

  it("report entries that are not valid names", () => {
    const { mistakes, references } = peerWorkload({ annotations: { [secrets]: "a,../b" } }, sap);
    expect(references.map(({ name }) => name)).toEqual(["a"]);
    expect(mistakes.map(({ message }) => message)).toEqual([
      'Annotation pod-reloader.cs.sap.com/secrets has entries that are not valid names of a Secret: "../b". Correct or remove these entries.',
    ]);
  });

  it("and Wave annotations request the union. The existing hash keeps its annotation", () => {
    const pod = readsAll("Secret", "db");
    const byWave = carriedOut(peerObject({ pod, annotations: { [updateOnConfigChange]: "true" } }), [web, db]);
    expect(Object.keys(templateAnnotations(byWave))).toEqual([configHash]);
    const both = { ...peerObject({ pod, annotations: { [updateOnConfigChange]: "true", [configmaps]: "web" } }) };
    const ofBoth = carriedOut(both, [web, db]);
    expect(Object.keys(templateAnnotations(ofBoth))).toEqual([configHash]);
    expect(planOf(ofBoth, [configMap("web", {}), db]).outcome).toBe("roll");
    expect(planOf(ofBoth, [web, secret("db", {})]).outcome).toBe("roll");

    const alone = carriedOut(peerObject({ annotations: { [configmaps]: "web" } }), [web]);
    const optedIn = {
      ...alone,
      metadata: { ...alone.metadata, annotations: { [configmaps]: "web", [updateOnConfigChange]: "true" } },
    };
    expect(planOf(optedIn, [web]).outcome).toBe("current");
  });

  it("opt in against the Wave annotation, with a warning", () => {
    const { optIn, mistakes } = peerWorkload(
      { annotations: { [configmaps]: "web", [updateOnConfigChange]: "false" } },
      sap,
    );
    expect(optIn).toEqual({ state: "in", by: "compatibility" });
    expect(mistakes.map(({ message }) => message).join()).toContain("Remove one of the annotations");
  });

  it("are compared when the cache checks whether a workload is unchanged", () => {
    const kind = "StatefulSet";
    const before = peerWorkload({ ...sapWorkload, kind }, sap);
    expect(matchesObject(before, peerObject({ ...sapWorkload, kind }), sap)).toBe(true);
    expect(matchesObject(before, peerObject({ kind, annotations: { [configmaps]: "web" } }), sap)).toBe(false);
    expect(
      matchesObject(
        before,
        peerObject({ kind, annotations: { ...sapWorkload.annotations, [updateOnConfigChange]: "true" } }),
        sap,
      ),
    ).toBe(false);
  });

  it("work without Wave annotations", () => {
    const alone = compatibleWith("sap");
    const wanted = { annotations: { ...both, [updateOnConfigChange]: "true" } };
    expect(peerWorkload(wanted, alone).optIn).toEqual({ state: "in", by: "compatibility" });
    expect(matchesObject(peerWorkload(wanted, alone), peerObject(wanted), alone)).toBe(true);
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ["names others", { [configmaps]: "other" }],
    ["is opted in by Wave's own", { ...both, [updateOnConfigChange]: "true" }],
    ["has an annotation that it did not have", { ...both, [hash]: "x" }],
  ])("fail a write to a StatefulSet that %s meanwhile", (_, annotations) => {
    const kind = "StatefulSet";
    const workload = peerWorkload({ ...sapWorkload, kind }, sap);
    const patch = patchFor(workload, planRollout(workload, lookupOf(web, db), sap));
    expect(() => applyJsonPatch(asJson(peerObject({ ...sapWorkload, kind })), asJson(patch))).not.toThrow();
    expect(() => applyJsonPatch(asJson(peerObject({ kind, annotations })), asJson(patch))).toThrow(
      "the server rejected our request",
    );
  });

  it("restore the hash that an update drops", () => {
    const hashed = carriedOut(peerObject(sapWorkload), [web, db]);
    const update = planAdmission(
      "UPDATE",
      toAdmissionObject(kinds.Deployment, peerObject(sapWorkload), sap),
      toAdmissionObject(kinds.Deployment, hashed, sap),
      lookupOf(web),
      sap,
    );
    expect(update.outcome).toBe("kept");
    const kept: WorkloadObject = asJson(applyJsonPatch(asJson(peerObject(sapWorkload)), asJson(update.patch)));
    expect(kept.spec).toEqual(hashed.spec);
  });

  it("count toward the limit of annotations", () => {
    const many = Array.from({ length: 10_000 }, (_, index) => `c${index}`).join();
    expect(peerWorkload({ annotations: { [configmaps]: many } }, allCompatibilities).limitExceeded?.limit).toBe(
      "annotations",
    );
  });
});

describe("a hash on the metadata, as a precondition", () => {
  const lookup = lookupOf(web, db);
  const admit = (value: string, given = lookup) => {
    const object = peerObject({ annotations: { ...both, [hash]: value } });
    return {
      object,
      plan: planAdmission("CREATE", toAdmissionObject(kinds.Deployment, object, sap), undefined, given, sap),
    };
  };
  const current = templateAnnotations(carriedOut(peerObject(sapWorkload), [web, db]))[hash] ?? "";

  it("is removed if it is the current hash", () => {
    const { object, plan } = admit(current);
    const admittedObject: WorkloadObject = asJson(applyJsonPatch(asJson(object), asJson(plan.patch)));
    expect(admittedObject.metadata?.annotations).toEqual({
      ...both,
      "wave.pusher.com/config-digests": expect.any(String),
    });
    expect(templateAnnotations(admittedObject)).toEqual({ [hash]: current });
  });

  it.each([
    ["another one", "v2:0", lookup],
    ["one of other configuration", current, lookupOf(web)],
    ["SAP's own", "0".repeat(64), lookup],
  ])("denies the request if it is %s", (_, value, given) => {
    const { plan } = admit(value, given);
    expect(plan).toMatchObject({ outcome: "denied", patch: undefined });
    expect(plan.denied).toMatch(/^Annotation pod-reloader.cs.sap.com\/config-hash is not the hash of/);
    expect(plan.denied).not.toContain(current);
  });

  it("denies the request if the hash is unknown", () => {
    const pod = readsAll("ConfigMap", "missing");
    const annotations = { ...both, [updateOnConfigChange]: "true", [hash]: current };
    const { denied } = planAdmission(
      "CREATE",
      toAdmissionObject(kinds.Deployment, peerObject({ pod, annotations }), sap),
      undefined,
      lookup,
      sap,
    );
    expect(denied).toContain(
      'Cannot check annotation pod-reloader.cs.sap.com/config-hash: waiting for ConfigMap "missing"',
    );
  });

  it("has no effect if SAP annotations request nothing", () => {
    const object = peerObject({ annotations: { [updateOnConfigChange]: "true", [hash]: "x" } });
    expect(
      planAdmission("CREATE", toAdmissionObject(kinds.Deployment, object, sap), undefined, lookup, sap).denied,
    ).toBeUndefined();
  });
});
