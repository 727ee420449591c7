import { describe, expect, it } from "vitest";
import { applyJsonPatch } from "../../../sandbox/patches/json-patch.ts";
import { decide, planRollout } from "../../../test/support/domain/decisions.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  readsAll,
  unpaced,
  type WorkloadFixture,
  workloadObject,
} from "../../../test/support/domain/objects.ts";
import { momentAt, noon } from "../../../test/support/pacing/due.ts";
import type { Config } from "../config/digest.ts";
import { kinds } from "../model/kinds/apps-kinds.ts";
import { invalidScheduler } from "../model/scheduling-hold.ts";
import { toWorkload } from "../model/workload.ts";
import type { WorkloadObject } from "../model/workload-references.ts";
import type { Policy } from "../policy/policy.ts";
import { patchFor } from "./workload-patch.ts";

const optIn = "wave.pusher.com/update-on-config-change";
const schedulingHold = "wave.pusher.com/scheduling-disabled";
const hash = "wave.pusher.com/config-hash";
const digests = "wave.pusher.com/config-digests";
const pod = readsAll("ConfigMap", "web");
const web = configMap("web", { a: "1" });

/** An edit of annotations does not raise the generation of this kind. So the patch must detect the edit itself. */
const kind = "StatefulSet";

const rowOf = (object: WorkloadObject) => kinds[object.kind === kind ? kind : "Deployment"];

function planned(object: WorkloadObject, configs: readonly Config[] = [web], policy: Partial<Policy> = {}) {
  const workload = toWorkload(rowOf(object), object);
  const plan = planRollout(workload, lookupOf(...configs), { ...defaultPolicy, ...policy });
  return { plan, patch: patchFor(workload, plan) };
}

/** Returns the object after the API server applies a patch to its current state. */
function applied(object: WorkloadObject, patch: unknown): WorkloadObject {
  const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));
  return asJson(applyJsonPatch(asJson(object), asJson(patch)));
}

/** Returns the object after its own plan is applied. */
function carriedOut(wanted: WorkloadFixture, configs?: readonly Config[], policy?: Partial<Policy>): WorkloadObject {
  const object = workloadObject(wanted);
  return applied(object, planned(object, configs, policy).patch);
}

describe("patchFor", () => {
  it.each<[string, WorkloadFixture, readonly Config[]]>([
    ["ignore", { annotations: { [optIn]: "false" } }, []],
    ["current", {}, []],
    ["waiting", { pod }, []],
  ])("writes nothing for %s", (outcome, wanted, configs) => {
    const { plan, patch } = planned(workloadObject(wanted), configs);
    expect(plan.outcome).toBe(outcome);
    expect(patch).toBeUndefined();
  });

  it.each<[string, WorkloadFixture]>([
    ["without template annotations", { pod }],
    ["with other template annotations", { pod, templateAnnotations: { other: "x" } }],
    ["with an older hash", { pod, templateAnnotations: { [hash]: `v2:${"0".repeat(64)}`, other: "x" } }],
  ])("writes only the hash into a template %s, and its digests beside it", (_, wanted) => {
    const before = workloadObject(wanted);
    const { plan } = planned(before);
    const expected = workloadObject({
      ...wanted,
      templateAnnotations: { ...wanted.templateAnnotations, [hash]: "hash" in plan ? plan.hash : "" },
    });
    const written = carriedOut(wanted);
    const { [digests]: _digests, ...annotations } = { ...written.metadata?.annotations };
    expect(written.metadata?.annotations).toHaveProperty([digests]);
    expect({ ...written, metadata: { ...written.metadata, annotations } }).toEqual(expected);
    expect(planned(expected).plan.outcome).toBe("current");
  });

  it.each<[string, WorkloadFixture]>([
    ["was replaced by another of its name", { metadata: { uid: "22222222-2222-2222-2222-222222222222" } }],
    ["has another spec", { metadata: { generation: 4 } }],
    ["opted out", { annotations: { [optIn]: "false" } }],
    ["lost its opt-in", { annotations: { [optIn]: undefined } }],
    ["began to name a ConfigMap", { annotations: { "wave.pusher.com/extra-configmaps": "a" } }],
    ["began to name a Secret", { annotations: { "wave.pusher.com/extra-secrets": "a" } }],
    ["got a scheduler to restore", { annotations: { [schedulingHold]: "" } }],
    ["got a recorded configuration", { annotations: { "wave.pusher.com/recorded-config": "a b" } }],
  ])("fails if the workload %s since it was read", (_, now) => {
    const { patch } = planned(workloadObject({ kind, pod }));
    expect(applied(workloadObject({ kind, pod }), patch)).toBeDefined();
    expect(() => applied(workloadObject({ kind, pod, ...now }), patch)).toThrow();
  });

  it("fails if the workload names other objects, or none, since it was read", () => {
    const names = (value: string | undefined): WorkloadFixture => ({
      kind,
      pod,
      annotations: { "wave.pusher.com/extra-configmaps": value },
    });
    const { patch } = planned(workloadObject(names("web")));
    expect(applied(workloadObject(names("web")), patch)).toBeDefined();
    expect(() => applied(workloadObject(names("other")), patch)).toThrow();
    expect(() => applied(workloadObject(names(undefined)), patch)).toThrow();
  });

  it("ignores labels, other annotations and status", () => {
    const { patch } = planned(workloadObject({ pod }));
    const now = workloadObject({ pod, annotations: { other: "x" }, metadata: { resourceVersion: "9" } });
    expect(applied(now, patch)).toBeDefined();
  });
});

describe("patchFor of a rollout", () => {
  const annotation = "wave.pusher.com/consecutive-rollouts";
  const roll = (recorded: string | undefined, count: number) => {
    const object = workloadObject({ kind, pod, annotations: { [annotation]: recorded } });
    const { plan } = planned(object);
    if (plan.outcome !== "firstHash") throw new Error(plan.outcome);
    return { object, patch: patchFor(toWorkload(rowOf(object), object), { ...plan, consecutiveRollouts: count }) };
  };
  const recordIn = ({ metadata }: WorkloadObject) => metadata?.annotations?.[annotation];

  it.each([
    [undefined, 1, "1"],
    ["1", 1, "1"],
    ["1", 2, "2"],
    ["2", 3, "3"],
    ["99", 99, "99"],
    ["7", 1, "1"],
  ])("with record %j, records consecutive rollout %d as %j", (before, place, after) => {
    const { object, patch } = roll(before, place);
    expect(recordIn(applied(object, patch))).toBe(after);
  });

  it("records that the workload is not complete, until the next rollout", () => {
    const mark = "wave.pusher.com/rolled-incomplete";
    type Incomplete = { readonly incomplete?: { readonly completeBefore: number | undefined } | undefined };
    const rolled = (annotations: Readonly<Record<string, string>>, incomplete: Incomplete) => {
      const object = workloadObject({ pod, annotations });
      const { plan } = planned(object);
      if (plan.outcome !== "firstHash") throw new Error(plan.outcome);
      const patch = patchFor(toWorkload(kinds.Deployment, object), { ...plan, ...incomplete });
      return applied(object, patch).metadata?.annotations?.[mark];
    };
    const isIncomplete = { incomplete: { completeBefore: undefined } };
    expect(rolled({}, isIncomplete)).toBe("never");
    expect(rolled({}, { incomplete: { completeBefore: 1_700_000_000_123.5 } })).toBe("1700000000123");
    expect(rolled({ [mark]: "1700000000123" }, isIncomplete)).toBe("never");
    expect(rolled({ [mark]: "never" }, { incomplete: undefined })).toBeUndefined();
    expect(rolled({ [mark]: "never" }, {})).toBe("never");
  });

  it("records that the workload is not complete also when it only ends a scheduling hold", () => {
    const progress = { state: "progressing", step: 0, available: 0 } as const;
    const mark = (optedIn: string, configs: readonly Config[], holds: boolean) => {
      const annotations = { [optIn]: optedIn, [schedulingHold]: "" };
      const object = workloadObject({ pod: { ...pod, schedulerName: invalidScheduler }, annotations });
      const workload = { ...toWorkload(kinds.Deployment, object), progress };
      const policy = { ...defaultPolicy, schedulingHold: holds, pacing: { ...unpaced, maxConcurrent: 5 } };
      const plan = decide({ workload, lookup: lookupOf(...configs), policy, moment: momentAt(noon) });
      const { metadata } = applied(object, patchFor(workload, plan));
      expect(metadata?.annotations).not.toHaveProperty([schedulingHold]);
      return metadata?.annotations?.["wave.pusher.com/rolled-incomplete"];
    };
    expect(mark("true", [web], true)).toBe("never");
    expect(mark("true", [], false)).toBe("never");
    expect(mark("false", [], true)).toBeUndefined();
  });

  it("fails if that record was changed or removed since it was read", () => {
    const { patch } = roll("2", 1);
    expect(() => applied(workloadObject({ kind, pod, annotations: { [annotation]: "3" } }), patch)).toThrow();
    expect(() => applied(workloadObject({ kind, pod }), patch)).toThrow();
  });

  it("keeps the record if it is planned without a moment", () => {
    expect(recordIn(carriedOut({ pod, annotations: { [annotation]: "4" } }))).toBe("4");
  });

  it.each(["StatefulSet", "DaemonSet"] as const)(
    "of a %s fails if its pacing annotations changed since it was read",
    (kind) => {
      const objectWith = (annotations: Readonly<Record<string, string>>) => workloadObject({ kind, pod, annotations });
      const patchOf = (object: WorkloadObject) => {
        const read = toWorkload(kinds[kind], object);
        return patchFor(read, planRollout(read, lookupOf(web), defaultPolicy));
      };
      const [window, held] = ["wave.pusher.com/window", "wave.pusher.com/hold"];
      const before = objectWith({ [window]: "Mon 10:00-12:00" });
      expect(applied(before, patchOf(before))).toBeDefined();
      expect(() => applied(objectWith({}), patchOf(before))).toThrow();
      expect(() => applied(objectWith({ [window]: "Tue 10:00-12:00" }), patchOf(before))).toThrow();
      expect(() => applied(objectWith({ [window]: "Mon 10:00-12:00", [held]: "true" }), patchOf(before))).toThrow();
      const tooLong = objectWith({ "wave.pusher.com/approved": "a".repeat(200) });
      expect(applied(tooLong, patchOf(tooLong))).toBeDefined();
    },
  );
});

describe("patchFor of a scheduling-held workload", () => {
  const schedulingHeld = (
    previous: string | undefined,
    annotations: WorkloadFixture["annotations"] = {},
  ): WorkloadFixture => ({
    pod: { ...pod, schedulerName: invalidScheduler },
    annotations: { [schedulingHold]: previous, ...annotations },
  });

  it.each([
    ["custom", "custom"],
    ["default-scheduler", "default-scheduler"],
    ["", undefined],
    [undefined, undefined],
    [invalidScheduler, undefined],
  ])("restores the scheduler %j as %j, writes the hash and removes the scheduling hold", (previous, restored) => {
    const after = carriedOut(schedulingHeld(previous));
    expect(after.spec?.template?.spec?.schedulerName).toBe(restored);
    expect(after.metadata?.annotations).not.toHaveProperty([schedulingHold]);
    expect(after.spec?.template?.metadata?.annotations?.[hash]).toMatch(/^v2:/);
    expect(planned(after).plan.outcome).toBe("current");
  });

  it("keeps a scheduler that another client restored, and removes the annotation", () => {
    const after = carriedOut({ pod: { ...pod, schedulerName: "mine" }, annotations: { [schedulingHold]: "custom" } });
    expect(after.spec?.template?.spec?.schedulerName).toBe("mine");
    expect(after.metadata?.annotations).not.toHaveProperty([schedulingHold]);
  });

  it("does not change a template that has its hash and scheduler", () => {
    const ready = carriedOut({ pod });
    const annotations = { ...ready.metadata?.annotations, [schedulingHold]: "" };
    const left = { ...ready, metadata: { ...ready.metadata, annotations } };
    expect(applied(left, planned(left).patch)).toEqual(ready);
  });

  it.each<[string, WorkloadFixture, readonly Config[], Partial<Policy>]>([
    ["opted out", schedulingHeld("custom", { [optIn]: "false" }), [web], {}],
    ["waits while scheduling holds are off", schedulingHeld("custom"), [], { schedulingHold: false }],
  ])("restores the scheduler and writes no hash if it %s", (_, wanted, configs, policy) => {
    const after = carriedOut(wanted, configs, policy);
    expect(after.spec?.template?.spec?.schedulerName).toBe("custom");
    expect(after.metadata?.annotations).not.toHaveProperty([schedulingHold]);
    expect(after.spec?.template?.metadata?.annotations).toBeUndefined();
    expect(planned(after, configs, policy).patch).toBeUndefined();
  });

  it("fails if the recorded scheduler changed since it was read", () => {
    const { patch } = planned(workloadObject({ kind, ...schedulingHeld("custom") }));
    expect(() => applied(workloadObject({ kind, ...schedulingHeld("other") }), patch)).toThrow();
  });
});
