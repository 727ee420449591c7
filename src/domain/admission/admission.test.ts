import { describe, expect, it } from "vitest";
import { applyJsonPatch } from "../../../sandbox/patches/json-patch.ts";
import { planRollout } from "../../../test/support/domain/decisions.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  readsAll,
  unpaced,
  type WorkloadFixture,
  workload,
  workloadObject,
} from "../../../test/support/domain/objects.ts";
import type { Config } from "../config/digest.ts";
import { kinds } from "../model/kinds/apps-kinds.ts";
import { invalidScheduler } from "../model/scheduling-hold.ts";
import type { WorkloadObject } from "../model/workload-references.ts";
import type { Policy } from "../policy/policy.ts";
import { planAdmission, toAdmissionObject } from "./admission.ts";

const optIn = "wave.pusher.com/update-on-config-change";
const schedulingHold = "wave.pusher.com/scheduling-disabled";
const hash = "wave.pusher.com/config-hash";
const pinned = "wave.pusher.com/pinned";
const modeOf = "wave.pusher.com/mode";
const pod = readsAll("ConfigMap", "web");
const held = { ...pod, schedulerName: invalidScheduler };
const web = configMap("web", { a: "1" });
const current = currentHash();
const older = { [hash]: `v2:${"0".repeat(64)}` };
const foreign = { [hash]: `v2:${"f".repeat(64)}` };
const newImage = { containers: [{ name: "web", image: "web:2", envFrom: [{ configMapRef: { name: "web" } }] }] };

function currentHash(): string {
  const plan = planRollout(workload({ pod }), lookupOf(web), defaultPolicy);
  return "hash" in plan ? plan.hash : "";
}

interface Request {
  readonly to: WorkloadFixture;
  /** The object before the request; undefined on CREATE. */
  readonly from?: WorkloadFixture;
  readonly configs?: readonly Config[];
  readonly policy?: Partial<Policy>;
}

function admit({ to, from, configs = [web], policy }: Request) {
  const object = workloadObject(to);
  const operation = from === undefined ? "CREATE" : "UPDATE";
  const old = from && workloadObject(from);
  const plan = planAdmission(
    operation,
    toAdmissionObject(kinds.Deployment, object),
    old && toAdmissionObject(kinds.Deployment, old),
    lookupOf(...configs),
    {
      ...defaultPolicy,
      ...policy,
    },
  );
  const json = JSON.parse(JSON.stringify(object));
  const patched = plan.patch ? applyJsonPatch(json, JSON.parse(JSON.stringify(plan.patch))) : json;
  const after: WorkloadObject = JSON.parse(JSON.stringify(patched));
  return { plan, after, state: stateOf(after) };
}

/** Everything that a webhook may change. */
function stateOf({ metadata, spec }: WorkloadObject) {
  return {
    hash: spec?.template?.metadata?.annotations?.[hash],
    scheduler: spec?.template?.spec?.schedulerName,
    savedScheduler: metadata?.annotations?.[schedulingHold],
  };
}

const running = (recorded?: string) => ({ hash: recorded, scheduler: "default-scheduler", savedScheduler: undefined });
const schedulingHeld = (savedScheduler: string, recorded?: string) => ({
  hash: recorded,
  scheduler: invalidScheduler,
  savedScheduler,
});

describe("a CREATE", () => {
  it("gets the hash if everything exists, so that the controller writes nothing", () => {
    const { plan, after, state } = admit({ to: { pod } });
    expect(plan).toMatchObject({ outcome: "hashed", warnings: [] });
    expect(state).toEqual(running(current));
    const deployment = workload({ pod, templateAnnotations: after.spec?.template?.metadata?.annotations ?? {} });
    expect(planRollout(deployment, lookupOf(web), defaultPolicy).outcome).toBe("current");
  });

  it("gets the current hash instead of the hash in the request", () => {
    expect(admit({ to: { pod, templateAnnotations: older } }).state.hash).toBe(current);
  });

  it.each([
    ["default-scheduler", "default-scheduler"],
    ["custom", "custom"],
    [undefined, ""],
  ])("is held if configuration is missing, with its scheduler %j recorded", (schedulerName, savedScheduler) => {
    const { plan, state } = admit({
      to: { pod: { ...pod, schedulerName } },
      configs: [],
    });
    expect(plan.outcome).toBe("schedulingHeld");
    expect(state).toEqual(schedulingHeld(savedScheduler));
    expect(plan.warnings).toMatchObject([
      { reason: "ConfigurationMissing", message: 'Waiting for ConfigMap "web". New Pods stay pending until then.' },
    ]);
  });

  it("is not held if scheduling holds are off, but has a warning", () => {
    const { plan, state } = admit({ to: { pod }, configs: [], policy: { schedulingHold: false } });
    expect(plan).toMatchObject({ outcome: "waiting", patch: undefined });
    expect(plan.warnings).toHaveLength(1);
    expect(state).toEqual(running());
  });

  it("is unchanged if it has not opted in, with warnings about mistakes", () => {
    const annotations = { [optIn]: "True", "wave.pusher.com/extra": "x" };
    const { plan } = admit({ to: { pod, annotations } });
    expect(plan).toMatchObject({ outcome: "ignored", patch: undefined });
    expect(plan.warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/Write "true".*"wave.pusher.com\/extra" is unknown/),
    ]);
  });

  it("loses a scheduling hold from an export if everything exists", () => {
    const { plan, state } = admit({ to: { pod: held, annotations: { [schedulingHold]: "custom" } } });
    expect(plan.outcome).toBe("schedulingReleased");
    expect(state).toEqual({ hash: current, scheduler: "custom", savedScheduler: undefined });
  });

  it("is an error that names the object if it is malformed", () => {
    const { spec: _spec, ...without } = workloadObject();
    expect(() => toAdmissionObject(kinds.Deployment, without)).toThrow('Deployment "default/web" is malformed');
  });
});

describe("an UPDATE that keeps the template", () => {
  it("keeps an outdated hash: the controller decides when to roll", () => {
    const { plan } = admit({
      from: { pod, templateAnnotations: older },
      to: { pod, templateAnnotations: older, spec: { replicas: 3 } },
    });
    expect(plan).toMatchObject({ outcome: "current", patch: undefined });
  });

  it.each<[string, readonly Config[]]>([
    ["everything exists", [web]],
    ["configuration is missing", []],
  ])("gets a removed hash back if %s", (_, configs) => {
    const { state } = admit({ from: { pod, templateAnnotations: older }, to: { pod }, configs });
    expect(state).toEqual(running(older[hash]));
  });

  it("gets it back even if the workload reads nothing now", () => {
    expect(admit({ from: { templateAnnotations: older }, to: {} }).state.hash).toBe(older[hash]);
  });

  it("is allowed if it is the write of the current hash by the controller", () => {
    const { plan } = admit({
      from: { pod, templateAnnotations: older },
      to: { pod, templateAnnotations: { [hash]: current } },
    });
    expect(plan.patch).toBeUndefined();
  });

  it("gets the current hash if it writes an unknown one, because it replaces Pods anyway", () => {
    const { state } = admit({ from: { pod, templateAnnotations: older }, to: { pod, templateAnnotations: foreign } });
    expect(state).toEqual(running(current));
  });

  it("is never held: neither for a running workload nor for one that opts in", () => {
    expect(admit({ from: { pod }, to: { pod, spec: { replicas: 2 } }, configs: [] }).state).toEqual(running());
    const optsIn = admit({ from: { pod, annotations: { [optIn]: undefined } }, to: { pod }, configs: [] });
    expect(optsIn.state).toEqual(running());
    expect(optsIn.plan.warnings).toMatchObject([{ message: expect.stringContaining("not rolled until then") }]);
  });

  it("leaves the first hash of a workload that opts in to the controller", () => {
    const { plan } = admit({ from: { pod, annotations: { [optIn]: undefined } }, to: { pod } });
    expect(plan.patch).toBeUndefined();
  });

  it.each<[string, readonly Config[]]>([
    ["everything exists", [web]],
    ["configuration is missing", []],
  ])("loses the scheduling hold of a rolled-back template if %s", (_, configs) => {
    const from = { pod: { ...pod, schedulerName: "custom" }, templateAnnotations: older };
    for (const annotations of [{}, { [schedulingHold]: "custom" }]) {
      const { state } = admit({ from, to: { pod: held, annotations }, configs });
      expect(state).toEqual({ hash: older[hash], scheduler: "custom", savedScheduler: undefined });
    }
  });
});

describe("an UPDATE of the template", () => {
  it("gets the current hash: one rollout for both", () => {
    const { plan, state } = admit({
      from: { pod, templateAnnotations: older },
      to: { pod: newImage, templateAnnotations: older },
    });
    expect(plan.outcome).toBe("hashed");
    expect(state).toEqual(running(current));
  });

  it("gets the current hash even if it removed the old one", () => {
    expect(admit({ from: { pod, templateAnnotations: older }, to: { pod: newImage } }).state).toEqual(running(current));
  });

  it.each(["observe", "roll"])(
    "that reads nothing more gets neither a removed hash nor removed pins back in mode %s",
    (mode) => {
      const from = { pod, templateAnnotations: { ...older, [pinned]: "web=web-41e0c55f96" } };
      const policy = { pinConfig: true };
      const { plan, after } = admit({ from, to: { annotations: { [modeOf]: mode } }, policy });
      expect(plan).toMatchObject({ outcome: "current", patch: undefined });
      expect(after.spec?.template?.metadata?.annotations).toBeUndefined();
    },
  );

  it("is held if it references a missing object, and keeps its hash", () => {
    const to = { pod: readsAll("Secret", "db"), templateAnnotations: older };
    const { state } = admit({ from: { pod, templateAnnotations: older }, to });
    expect(state).toEqual(schedulingHeld("default-scheduler", older[hash]));
  });

  it("includes an edit of the scheduler", () => {
    const to = { pod: { ...pod, schedulerName: "custom" }, templateAnnotations: older };
    expect(admit({ from: { pod, templateAnnotations: older }, to }).state.hash).toBe(current);
  });
});

describe("an UPDATE of a scheduling-held workload", () => {
  const from = { pod: held, annotations: { [schedulingHold]: "custom" } };

  it.each<[string, WorkloadFixture, string]>([
    ["overwrites all of it", { pod: { ...pod, schedulerName: "custom" } }, "custom"],
    ["removes the annotation", { pod: held }, "custom"],
    [
      "restores the scheduler",
      { pod: { ...pod, schedulerName: "custom" }, annotations: { [schedulingHold]: "custom" } },
      "custom",
    ],
    [
      "names another scheduler",
      { pod: { ...pod, schedulerName: "mine" }, annotations: { [schedulingHold]: "custom" } },
      "mine",
    ],
    ["changes something else", { ...from, spec: { replicas: 2 } }, "custom"],
    ["changes the template", { ...from, pod: { ...newImage, schedulerName: invalidScheduler } }, "custom"],
  ])("stays held while configuration is missing if it %s", (_, to, savedScheduler) => {
    expect(admit({ from, to, configs: [] }).state).toEqual(schedulingHeld(savedScheduler));
  });

  it.each<[string, WorkloadFixture, string]>([
    ["overwrites all of it", { pod: { ...pod, schedulerName: "custom" } }, "custom"],
    ["removes the annotation", { pod: held }, "custom"],
    ["changes something else", { ...from, spec: { replicas: 2 } }, "custom"],
  ])("is released with the current hash when everything exists if it %s", (_, to, scheduler) => {
    expect(admit({ from, to }).state).toEqual({ hash: current, scheduler, savedScheduler: undefined });
  });

  it.each([{ [schedulingHold]: "custom" }, {}])("is released if it opts out, with %j left", (annotations) => {
    const to = { pod: held, annotations: { ...annotations, [optIn]: undefined } };
    const { plan, state } = admit({ from, to, configs: [] });
    expect(plan.outcome).toBe("schedulingReleased");
    expect(state).toEqual({ hash: undefined, scheduler: "custom", savedScheduler: undefined });
  });

  it("is released if scheduling holds are off", () => {
    const { state } = admit({ from, to: from, configs: [], policy: { schedulingHold: false } });
    expect(state).toEqual({ hash: undefined, scheduler: "custom", savedScheduler: undefined });
  });
});

describe("a workload in mode observe", () => {
  const observed = { annotations: { "wave.pusher.com/mode": "observe" } };
  const byFlag = { pacing: { ...unpaced, observe: true } };
  const missing = { configs: [] };

  it.each<[string, Request]>([
    ["is created", { to: { pod, ...observed } }],
    ["is created with --observe", { to: { pod }, policy: byFlag }],
    ["is created while configuration is missing", { to: { pod, ...observed }, ...missing }],
    ["gets new Pods", { to: { pod: newImage, templateAnnotations: older, ...observed }, from: { pod } }],
    [
      "has a closed scheduling hold",
      { to: { pod: held, annotations: { ...observed.annotations, [schedulingHold]: "" } }, from: { pod: held } },
    ],
  ])("is unchanged if it %s", (_, request) => {
    expect(admit(request).plan.patch).toBeUndefined();
  });

  it.each<[string, Request]>([
    ["removed", { to: { pod, ...observed }, from: { pod, templateAnnotations: older } }],
    ["removed with new Pods", { to: { pod: newImage }, from: { pod, templateAnnotations: older }, policy: byFlag }],
    [
      "changed alone",
      { to: { pod, templateAnnotations: foreign, ...observed }, from: { pod, templateAnnotations: older } },
    ],
  ])("gets its recorded hash back if the request has it %s", (_, request) => {
    const { plan, state } = admit(request);
    expect([plan.outcome, state]).toEqual(["kept", running(older[hash])]);
  });
});

describe("a hash that another controller recorded", () => {
  const bare = { [hash]: "a".repeat(64) };

  it("stays with an UPDATE that keeps the Pods: the controller verifies it", () => {
    const relabelled = { pod, templateAnnotations: bare, metadata: { labels: { team: "shop" } } };
    const { plan, state } = admit({ to: relabelled, from: { pod, templateAnnotations: bare } });
    expect(plan.patch).toBeUndefined();
    expect(state.hash).toBe(bare[hash]);
  });

  it("is restored if an UPDATE removes it", () => {
    expect(admit({ to: { pod }, from: { pod, templateAnnotations: bare } }).state.hash).toBe(bare[hash]);
  });

  it("is replaced with the hash of Wave if an UPDATE replaces the Pods anyway", () => {
    const from = { pod, templateAnnotations: bare };
    expect(admit({ to: { pod: newImage, templateAnnotations: bare }, from }).state.hash).toBe(current);
  });
});
