import { describe, expect, it } from "vitest";
import { applyJsonPatch } from "../../../sandbox/patches/json-patch.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  readsAll,
  type Wanted,
  workloadObject,
} from "../../../test/support/domain/objects.ts";
import type { Config } from "../config/digest.ts";
import { kinds } from "../model/built-in-kinds.ts";
import { toWorkload, type WorkloadObject } from "../model/workload.ts";
import { patchFor } from "../patch/workload-patch.ts";
import type { Policy } from "../policy/policy.ts";
import { planRollout } from "./plan.ts";

const pod = readsAll("ConfigMap", "web");
const firstSight = "wave.pusher.com/first-sight";
const taken: Policy = { ...defaultPolicy, firstSight: "record" };
const web = (value: string) => configMap("web", { a: value });
const plan = (object: WorkloadObject, config = web("1"), policy = taken) =>
  planRollout(toWorkload(kinds.Deployment, object, policy), lookupOf(config), policy);

/** The object with a patch; as it is where there is none. */
function patched(object: WorkloadObject, patch: unknown): WorkloadObject {
  const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));
  return patch === undefined ? object : asJson(applyJsonPatch(asJson(object), asJson(patch)));
}

/** The workload once its plan is written. */
function written(object: WorkloadObject, config = web("1")): WorkloadObject {
  return patched(object, patchFor(toWorkload(kinds.Deployment, object, taken), plan(object, config)));
}

describe("a workload that is seen for the first time", () => {
  const seen = written(workloadObject({ pod }));

  it("keeps its pod template as it is where what is there is taken for what its Pods see", () => {
    expect(seen.spec).toEqual(workloadObject({ pod }).spec);
    expect(plan(seen).outcome).toBe("current");
  });

  it("gets a hash with the first real change, and the note goes", () => {
    expect(plan(seen, web("2")).outcome).toBe("roll");
    const rolled = written(seen, web("2"));
    expect(rolled.spec?.template?.metadata?.annotations).toEqual({
      "wave.pusher.com/config-hash": expect.stringMatching(/^v2:/),
    });
    expect(rolled.metadata?.annotations).toEqual(workloadObject({ pod }).metadata?.annotations);
    expect(plan(rolled, web("2")).outcome).toBe("current");
    expect(plan(rolled, web("1")).outcome).toBe("roll");
  });

  it("is not restarted either by an object that counts no more, and then again", () => {
    const envFrom = ["web", "other"].map((name) => ({ configMapRef: { name } }));
    const both = workloadObject({ pod: { containers: [{ name: "web", envFrom }] } });
    const other = (ignored: boolean) =>
      configMap("other", { b: "1" }, { annotations: ignored ? { "wave.pusher.com/ignore": "true" } : {} });
    const step = (object: WorkloadObject, ...configs: readonly Config[]) => {
      const workload = toWorkload(kinds.Deployment, object, taken);
      const next = planRollout(workload, lookupOf(...configs), taken);
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

  it("keeps that when the policy is another one by then", () => {
    expect(plan(seen, web("1"), defaultPolicy).outcome).toBe("current");
  });

  it("begins with a hash where its Pods wait for their configuration: they are replaced anyway", () => {
    const held = { ...pod, schedulerName: "wave.pusher.com/invalid" };
    expect(plan(workloadObject({ pod: held })).outcome).toBe("firstHash");
  });

  it.each<[string, Wanted, Policy, string]>([
    ["nobody says anything", {}, defaultPolicy, "firstHash"],
    ["the flag says so", {}, taken, "recorded"],
    ["its annotation says so", { annotations: { [firstSight]: "record" } }, defaultPolicy, "recorded"],
    ["its annotation says otherwise than the flag", { annotations: { [firstSight]: "roll" } }, taken, "firstHash"],
    [
      "Reloader's annotations ask for it",
      { annotations: { "reloader.stakater.com/auto": "true" } },
      reloader(),
      "recorded",
    ],
    ["the flag says otherwise than Reloader", {}, { ...reloader(), firstSight: "roll" }, "firstHash"],
    ["Wave's annotations alone ask for it", {}, reloader(), "firstHash"],
  ])("where %s", (_, wanted, policy, outcome) => {
    expect(plan(workloadObject({ pod, ...wanted }), web("1"), policy).outcome).toBe(outcome);
  });
});

function reloader(): Policy {
  const own = { autoReloadAll: false, reloadOnCreate: false, reloadOnDelete: false };
  return { ...defaultPolicy, compatibility: { understood: ["wave", "stakater"], ...own } };
}
