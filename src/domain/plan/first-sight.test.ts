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
import type { Config } from "../config/digest.ts";
import { kinds } from "../model/kinds/apps-kinds.ts";
import { toWorkload } from "../model/workload.ts";
import type { WorkloadObject } from "../model/workload-references.ts";
import { patchFor } from "../patch/workload-patch.ts";
import { type Policy, toNamespacePolicy } from "../policy/policy.ts";

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

  it("gets a hash with the first change, and rolls again if another client takes the hash back", () => {
    expect(plan(seen, web("2")).outcome).toBe("roll");
    const rolled = written(seen, web("2"));
    expect(rolled.spec?.template?.metadata?.annotations).toEqual({
      "wave.pusher.com/config-hash": expect.stringMatching(/^v2:/),
    });
    expect(plan(withoutHash(rolled), web("2")).outcome).toBe("roll");
    expect(plan(withoutHash(rolled), web("1")).outcome).toBe("current");
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

  it.each<[string, WorkloadFixture, Policy, string]>([
    ["writes a hash by default", {}, defaultPolicy, "firstHash"],
    ["records with the flag", {}, recording, "recorded"],
    ["records with its annotation", { annotations: { [firstSight]: "record" } }, defaultPolicy, "recorded"],
    [
      "records with the annotation of its Namespace",
      {},
      { ...defaultPolicy, namespacePolicyOf: () => recordingNamespace },
      "recorded",
    ],
    [
      "prefers its annotation to that of its Namespace",
      { annotations: { [firstSight]: "roll" } },
      { ...defaultPolicy, namespacePolicyOf: () => recordingNamespace },
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

/** Returns an object as a client leaves it that writes the pod template without the hash. */
function withoutHash(object: WorkloadObject): WorkloadObject {
  const { template, ...spec } = object.spec ?? {};
  return { ...object, spec: { ...spec, template: { ...template, metadata: {} } } } as WorkloadObject;
}

function reloader(): Policy {
  const own = { autoReloadAll: false, reloadOnCreate: false, reloadOnDelete: false };
  return { ...defaultPolicy, compatibility: { understood: ["wave", "stakater"], ...own } };
}
