import { describe, expect, it } from "vitest";
import type { PodSpec } from "#kubernetes";
import { applyJsonPatch } from "../../../sandbox/patches/json-patch.ts";
import { decide, planRollout } from "../../../test/support/domain/decisions.ts";
import { configMap, defaultPolicy, lookupOf, readsAll, workloadObject } from "../../../test/support/domain/objects.ts";
import { changedAt, defaultFlags, momentAt, noon, outdated } from "../../../test/support/pacing/due.ts";
import type { Config } from "../config/digest.ts";
import { kinds } from "../model/kinds/apps-kinds.ts";
import { toWorkload } from "../model/workload.ts";
import type { WorkloadObject } from "../model/workload-references.ts";
import type { DueDecision } from "../outcomes/outcomes.ts";
import { patchFor } from "../patch/workload-patch.ts";
import { rulesFor } from "../policy/rules.ts";
import { changedObjects, dueWrite, heldReason } from "./due.ts";

it("if the change is unknown, a missing object may have changed, and a class that no Pod mounts has not", () => {
  const csi = { driver: "secrets-store.csi.k8s.io", volumeAttributes: { secretProviderClass: "vault" } };
  const pod = { ...readsAll("ConfigMap", "gone", true), volumes: [{ name: "vault", csi }] };
  const templateAnnotations = { "wave.pusher.com/config-hash": `v2:${"0".repeat(64)}` };
  const policy = { ...defaultPolicy, providerClasses: true };
  const workload = toWorkload(kinds.Deployment, workloadObject({ pod, templateAnnotations }), policy);
  const decision = planRollout(workload, lookupOf(), policy);
  if (decision.outcome !== "roll") throw new Error(decision.reason);
  const due = {
    workload,
    decision,
    lookup: lookupOf(),
    rules: rulesFor(workload, policy),
  };
  expect(changedObjects(due).map(({ kind, name }) => `${kind} ${name}`)).toEqual(["ConfigMap gone"]);
});

const edit = (manager: string, seconds: number, ...keys: string[]) => ({
  manager,
  operation: "Update",
  time: new Date(noon + seconds * 1000).toISOString(),
  fieldsV1: { "f:data": Object.fromEntries((keys.length === 0 ? ["a"] : keys).map((key) => [`f:${key}`, {}])) },
});
const metadata = {
  creationTimestamp: new Date(noon - 3_600_000).toISOString(),
  managedFields: [edit("kubectl-edit", 3), edit("helm", -60)],
};
const lookup = lookupOf(configMap("web", { a: "new" }, metadata));
const policy = { ...defaultPolicy, pacing: defaultFlags };
const moment = momentAt(noon + 60_000);
const optIn = { "wave.pusher.com/update-on-config-change": "true" };
const edited = ', last edited by "kubectl-edit"';

function patched(object: WorkloadObject, patch: unknown): WorkloadObject {
  return JSON.parse(
    JSON.stringify(applyJsonPatch(JSON.parse(JSON.stringify(object)), JSON.parse(JSON.stringify(patch)))),
  );
}

/** Returns a held workload after Wave has written the hash of these objects. */
function recordedWith(
  configs: readonly Config[],
  pod: Partial<PodSpec> = readsAll("ConfigMap", "web"),
): WorkloadObject {
  const wanted = workloadObject({ pod, annotations: { ...optIn, "wave.pusher.com/hold": "true" } });
  const unseen = toWorkload(kinds.Deployment, wanted);
  return patched(wanted, patchFor(unseen, planRollout(unseen, lookupOf(...configs), policy)));
}

describe("in a process that did not see the changes, a workload is due for", () => {
  const sources = ["web", "other"].map((name) => ({ configMapRef: { name, optional: true } }));
  const before = [configMap("web", { a: "1", b: "1" }), configMap("other", { a: "1" })];
  const object = recordedWith(before, { containers: [{ name: "app", envFrom: sources }] });
  const [earlier, later] = [-60, 3].map(
    (seconds) => (name: string, data: Record<string, string>) =>
      changedAt(configMap(name, data), noon / 1000 + seconds),
  ) as [typeof configMap, typeof configMap];
  const named = (configDigests: string | undefined, ...configs: Config[]) => {
    const stored = toWorkload(kinds.Deployment, object);
    const workload = {
      ...stored,
      hashWrittenAt: noon / 1000 - 30,
      ...(configDigests === undefined && { configDigests }),
    };
    const plan = decide({ workload, lookup: lookupOf(...configs), policy, moment });
    return plan.outcome === "held" ? plan.changed?.map(({ name }) => name) : plan.reason;
  };

  it.each([
    ["an object with a removed key", [earlier("web", { a: "1" }), earlier("other", { a: "1" })], ["web"], undefined],
    ["no object that is as it was", [earlier("web", { a: "1" }), later("other", { a: "1" })], ["web"], ["other"]],
    ["an object that was deleted", [later("web", { a: "1", b: "1" })], ["other"], ["web"]],
    ["each of two changed objects", [later("web", { a: "2" })], ["other", "web"], ["web"]],
  ] as const)("%s, by digests", (_, configs, changed, byTimes) => {
    expect(named("recorded", ...configs)).toEqual(changed);
    expect(named(undefined, ...configs)).toEqual(byTimes);
  });

  it("an object by its times, if its Pods are replaced with the hash that they have", () => {
    const workload = { ...toWorkload(kinds.Deployment, object), hashWrittenAt: noon / 1000 - 30 };
    const restored = lookupOf(later("web", { a: "1", b: "1" }), earlier("other", { a: "1" }));
    const current = planRollout(workload, restored, policy);
    if (current.outcome !== "current") throw new Error(current.reason);
    const decision = { ...current, outcome: "roll", hash: current.view.hash, changed: undefined, again: true } as const;
    const due = {
      workload,
      decision,
      lookup: restored,
      rules: rulesFor(workload, policy),
    };
    expect(changedObjects(due).map(({ name }) => name)).toEqual(["web"]);
  });
});

describe("the reason of a held rollout", () => {
  it.each([{ hold: "true" }, { mode: "approve" }, { window: "Mon 01:00-02:00" }, { mode: "observe" }])(
    "names object, key and editor with %j",
    (own) => {
      const before = planRollout(outdated(), lookupOf(configMap("web", { a: "old" })), policy);
      const view = "view" in before ? before.view : undefined;
      const plan = decide({ workload: outdated({ policy: own }), lookup, policy, previous: view, moment });
      expect(plan).toMatchObject({ outcome: "held", reason: `ConfigMap "web" changed (key "a")${edited}` });
    },
  );

  describe("in a process that did not see the change", () => {
    const workload = outdated({ policy: { hold: "true" }, hashWrittenAt: noon / 1000 - 30 });
    const held = (managedFields: object[]) => {
      const after = lookupOf(configMap("web", { a: "new" }, { ...metadata, managedFields }));
      return decide({ workload, lookup: after, policy, moment }).reason;
    };

    it("names object, key and editor", () => {
      expect(held([edit("kubectl-edit", 3), edit("helm", -60)])).toBe(`ConfigMap "web" changed (key "a")${edited}`);
    });

    it("names no key if the API does not show that no other key was changed", () => {
      const unknown = `ConfigMap "web" changed${edited}`;
      expect(held([edit("kubectl-edit", 3)])).toBe(unknown);
      expect(held([edit("kubectl-edit", 3), edit("helm", -30)])).toBe(unknown);
      expect(held([edit("kubectl-edit", 3, "a", "b"), edit("helm", -60)])).toBe(unknown);
      expect(held([{ ...edit("kubectl-edit", 3), operation: "Apply" }, edit("helm", -60)])).toBe(unknown);
    });

    it("names the keys by recorded digests, and the object by its times if the digests are of another hash", () => {
      const applied = [edit("argocd-controller", 3, "a", "b")];
      const after = { a: "new", b: "1", d: "1" };
      const object = recordedWith([configMap("web", { a: "old", b: "1", c: "1" })]);
      const reasonFor = (recorded: WorkloadObject) => {
        const lookup = lookupOf(configMap("web", after, { ...metadata, managedFields: applied }));
        const stored = { ...toWorkload(kinds.Deployment, recorded), hashWrittenAt: noon / 1000 - 30 };
        return decide({ workload: stored, lookup, policy, moment }).reason;
      };
      // No live object and no reference names the removed key "c".
      expect(reasonFor(object)).toBe('ConfigMap "web" changed (keys "a" and "d"), last edited by "argocd-controller"');
      const forged = patched(object, [
        { op: "add", path: "/metadata/annotations/wave.pusher.com~1config-digests", value: "c c c" },
      ]);
      expect(reasonFor(forged)).toBe('ConfigMap "web" changed, last edited by "argocd-controller"');
    });

    it("does not name an object if only keys that no Pod reads were edited", () => {
      expect(held([edit("kubectl-edit", 3, "gone"), edit("helm", -60)])).toBe(
        "the configuration changed after its hash was recorded",
      );
    });
  });

  it("keeps what the reason has around the changes", () => {
    const rules = rulesFor(outdated(), policy);
    const write = dueWrite({
      workload: outdated(),
      decision: planRollout(outdated(), lookup, policy) as DueDecision,
      lookup,
      rules,
      moment,
    });
    const around = { ...write.decision, prefix: "the hold is removed; ", suffix: ", and more" } as DueDecision;
    const reason = heldReason({ ...write, decision: around }, "");
    expect(reason).toBe(`the hold is removed; ConfigMap "web" changed${edited}, and more`);
  });

  it("names the editor if the change is halted, and not if it is rolled", () => {
    const halted = { reason: "halted", message: "", until: undefined, warning: true } as const;
    const world = { workload: outdated(), lookup, policy, moment };
    expect(decide({ ...world, batchHold: () => halted }).reason).toBe(`ConfigMap "web" changed${edited}`);
    expect(decide(world).reason).toBe('ConfigMap "web" changed');
  });
});
