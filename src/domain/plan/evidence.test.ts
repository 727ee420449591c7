import { describe, expect, it } from "vitest";
import type { PodSpec } from "#kubernetes";
import { applyJsonPatch } from "../../../sandbox/patches/json-patch.ts";
import { decide, planRollout } from "../../../test/support/domain/decisions.ts";
import { defaultPolicy, lookupOf, readsAll, workloadObject } from "../../../test/support/domain/objects.ts";
import { defaultFlags, momentAt } from "../../../test/support/pacing/due.ts";
import { type Config, toConfig } from "../config/digest.ts";
import { kinds } from "../model/kinds/apps-kinds.ts";
import { toWorkload } from "../model/workload.ts";
import type { Workload } from "../model/workload-shape.ts";
import type { ListedPods } from "../pacing/moment.ts";
import { patchFor } from "../patch/workload-patch.ts";
import type { Policy } from "../policy/policy.ts";

const second = 1_800_000_000;
const recording: Policy = { ...defaultPolicy, firstSight: "record" };
const pod = readsAll("ConfigMap", "web");

/** Returns a ConfigMap that was edited last at a second, in a watch event. */
function web(value: string, editedAt: number, known: Partial<Config> = {}): Config {
  const time = new Date(editedAt * 1000).toISOString();
  const metadata = { namespace: "default", name: "web", resourceVersion: "500", creationTimestamp: time };
  return { ...toConfig("ConfigMap", { metadata, data: { a: value } }), ...known };
}

function seen(wanted: Parameters<typeof workloadObject>[0] = {}, known: Partial<Workload> = {}): Workload {
  const metadata = { resourceVersion: "900", ...wanted?.metadata };
  return { ...toWorkload(kinds.Deployment, workloadObject({ pod, ...wanted, metadata })), ...known };
}

function planned(workload: Workload, config: Config, pods: ListedPods | undefined, policy = defaultPolicy) {
  const moment = momentAt(second * 1000 + 600_000, { pods });
  const plan = decide({ workload, lookup: lookupOf(config), policy, moment });
  return plan.outcome === "held" ? plan.due : plan;
}

const listed = (scheduledAt: number | undefined, listedUpTo = 1_000, envAt = 0): ListedPods => ({
  times: scheduledAt === undefined ? undefined : { scheduledAt, envAt },
  listedUpTo,
});
const noNode = Number.POSITIVE_INFINITY;
const oneReplica = { replicas: 1, updatedReplicas: 1, availableReplicas: 1 };
const onlyOne: Partial<Workload> = { progress: { state: "complete", since: undefined } };
const hashOf = (config: Config) => {
  const plan = planRollout(seen(), lookupOf(config), defaultPolicy);
  return "hash" in plan ? plan.hash : "";
};
const hashed = (value: string) => ({ "wave.pusher.com/config-hash": hashOf(web(value, second)) });

describe.each([
  ["a workload at first sight", seen(), "firstHash"],
  ["a workload whose hash is of other content", seen({ templateAnnotations: hashed("old") }), "roll"],
] as const)("%s", (_, workload, rolls) => {
  it.each<readonly [string, ListedPods | undefined, Partial<Config>, Partial<Workload>, string]>([
    ["is recorded if all Pods are newer than the last change", listed(second + 1), {}, {}, "recorded"],
    ["gets the hash if it has no Pods, because that replaces nothing", listed(undefined), {}, {}, rolls],
    ["rolls if a Pod is as old as the change", listed(second), {}, {}, rolls],
    ["is recorded if no Pod has a node yet", listed(noNode, 500), {}, {}, "recorded"],
    ["rolls if a Pod may have got its node after the list, before the change", listed(noNode, 499), {}, {}, rolls],
    [
      "is recorded if no Pod has a node yet after a change before the watch",
      listed(noNode),
      { revision: undefined },
      {},
      "recorded",
    ],
    [
      "is recorded if all containers have read the variables again",
      listed(0, 500, second + 6),
      {},
      onlyOne,
      "recorded",
    ],
    ["rolls if a container may have read them before the change", listed(0, 500, second + 5), {}, onlyOne, rolls],
    ["rolls if a container has not started", listed(0, 500, 0), {}, onlyOne, rolls],
    ["rolls if containers have started, and some Pods may read files", listed(0, 500, second + 6), {}, {}, rolls],
    ["rolls if the list is older than the change", listed(second + 1, 499), {}, {}, rolls],
    ["rolls if the API has no time of the change", listed(second + 1), { isUntimed: true }, {}, rolls],
    ["rolls if its Pods were not listed", undefined, {}, {}, rolls],
    ["is recorded if it was created after the change, in one second", undefined, {}, first(501), "recorded"],
    ["rolls if it was created before the change, in one second", listed(second), {}, first(499), rolls],
    [
      "is recorded if it was created in a later second than a change before the watch",
      undefined,
      { revision: undefined },
      first(501, second + 1),
      "recorded",
    ],
    [
      "rolls if it was created in the second of a change before the watch",
      listed(second),
      { revision: undefined },
      first(501, second),
      rolls,
    ],
    [
      "is recorded if its pod template was written after the change, and all Pods are as new",
      listed(second),
      {},
      later(501, second),
      "recorded",
    ],
    [
      "rolls if its Pods may be of an earlier pod template of the same second, because a rollout replaces none",
      listed(second),
      {},
      { ...later(501, second), progress: { state: "idle" } },
      rolls,
    ],
    [
      "rolls if its Pods may be of an earlier rollout of the pod template in the same second, because an incomplete rollout was undone",
      listed(second),
      {},
      later(501, second, false),
      rolls,
    ],
    ["rolls if the API has no time of a later pod template", listed(second), {}, later(501, undefined), rolls],
    ["rolls if a later pod template has earlier Pods", listed(second - 1), {}, later(501, second), rolls],
  ])("%s", (_case, pods, config, known, outcome) => {
    expect(planned({ ...workload, ...known }, web("1", second, config), pods).outcome).toBe(outcome);
  });

  it("asks for a list of its Pods, unless the change is newer than everything that the workload shows", () => {
    expect(planned(workload, web("1", second), undefined)).toMatchObject({ unlisted: 900 });
    const now = second + 590;
    expect(planned(workload, web("1", now, { revision: 901 }), undefined)).not.toHaveProperty("unlisted");
    expect(planned(workload, web("1", now, { revision: 899 }), undefined)).toMatchObject({ unlisted: 900 });
  });

  it.each<readonly [string, ListedPods, Partial<Config>, Partial<Workload>, object]>([
    [
      "is recorded by it, because Pods that were created since are newer",
      listed(second + 1),
      {},
      {},
      { outcome: "recorded" },
    ],
    ["is recorded by it if no Pod had a node", listed(noNode, 500), {}, {}, { outcome: "recorded" }],
    [
      "is recorded by it if containers had started again",
      listed(0, 500, second + 6),
      {},
      onlyOne,
      { outcome: "recorded" },
    ],
    ["asks for a new one if a Pod was as old as the change: it may be gone", listed(second), {}, {}, { unlisted: 900 }],
    ["asks for a new one if the change is later", listed(second + 1, 499), {}, {}, { unlisted: 900 }],
    [
      "asks for a new one although Pods were newer than a later pod template, which may restore others",
      listed(noNode, 499),
      {},
      later(501, second),
      { unlisted: 900 },
    ],
  ])("with an earlier list, %s", (_, pods, config, known, plan) => {
    const earlier = { ...pods, isEarlier: true };
    expect(planned({ ...workload, ...known }, web("1", second, config), earlier)).toMatchObject(plan);
  });

  it("asks for a later list if one from before the change shows no Pod with a node", () => {
    const config = { ...web("1", second, { revision: 950 }), wasAbsentSince: 0 };
    for (const pods of [listed(noNode, 901), { ...listed(0, 901), times: undefined }])
      expect(planned(workload, config, pods)).toMatchObject({ unlisted: 950 });
    for (const pods of [listed(noNode, 950), listed(second - 1, 901)])
      expect(planned(workload, config, pods)).not.toHaveProperty("unlisted");
    // They have waited for it, whatever is written later.
    const requested = { monotonic: 100_000, serverTime: second };
    const awaited = planned({ ...workload, ...onlyOne }, config, { ...listed(noNode, 901), requested });
    expect(awaited.outcome).toBe("recorded");
    const idle = { ...workload, progress: { state: "idle" } } as const;
    expect(planned(idle, config, listed(noNode, 901))).not.toHaveProperty("unlisted");
    const recording = { ...defaultPolicy, firstSight: "record" } as const;
    const recorded = planned(seen(), config, listed(noNode, 901), recording);
    expect(recorded).toMatchObject({ outcome: "recorded", unproven: { changedAt: 0, podsAt: 0 } });
  });
});

it.each([
  ["an older file and a newer variable are recorded", second - 70, second, "recorded"],
  ["a newer file rolls", second, second - 70, "firstHash"],
])("of containers that have started again, %s", (_, fileAt, variableAt, outcome) => {
  const both = { ...pod, volumes: [{ name: "files", secret: { secretName: "login" } }] };
  const workload = { ...seen({ pod: both }), ...onlyOne };
  const login = { ...toConfig("Secret", { metadata: { namespace: "default", name: "login" } }), changedAt: fileAt };
  const moment = momentAt(second * 1000 + 600_000, { pods: listed(second - 60, 1_000, second + 6) });
  const lookup = lookupOf(web("1", variableAt), login);
  expect(decide({ workload, lookup, policy: defaultPolicy, moment }).outcome).toBe(outcome);
});

describe("an optional object that does not exist", () => {
  const optional = seen({ pod: readsAll("Secret", "login", true) });
  const monotonic = 1_000_000;
  /** `absentS`: for how many seconds the object was absent when the API server answered. */
  const plan = (absentS: number | undefined, pods: ListedPods, workload = optional) => {
    const since = absentS === undefined ? undefined : monotonic - absentS * 1000;
    const moment = momentAt(second * 1000, { pods, absentSince: () => since });
    return decide({ workload, lookup: lookupOf(), policy: defaultPolicy, moment }).outcome;
  };
  const requested = { monotonic, serverTime: second };
  const at = (scheduledAt: number, envAt = 0): ListedPods => ({ ...listed(scheduledAt, 1_000, envAt), requested });

  it.each([
    ["is proven if the Pods got their node later", 100, at(second - 89), "recorded"],
    ["is not proven within the margins of clocks", 100, at(second - 90), "firstHash"],
    ["is not proven if a watch does not show since when", undefined, at(second - 1), "firstHash"],
    ["is not proven if the response does not have the time", 100, listed(second - 1), "firstHash"],
    ["is proven if the Pods have no node yet", 1, at(noNode), "recorded"],
    ["is not proven if it was removed after the list", -1, at(noNode), "firstHash"],
  ])("%s", (_, absentS, pods, outcome) => expect(plan(absentS, pods)).toBe(outcome));

  it("is proven by the starts of containers that read variables", () => {
    expect(plan(100, at(0, second - 84), { ...optional, ...onlyOne })).toBe("recorded");
    expect(plan(100, at(0, second - 85), { ...optional, ...onlyOne })).toBe("firstHash");
  });

  it("is proven by the creation of the workload, whose Pods do not exist yet", () => {
    const none: ListedPods = { ...listed(undefined), requested };
    expect(plan(100, none, { ...optional, ...first(501, second - 89) })).toBe("recorded");
    expect(plan(100, none, { ...optional, ...first(501, second - 90) })).toBe("firstHash");
    expect(plan(100, none, { ...optional, ...later(501, second - 89) })).toBe("firstHash");
  });

  it("is not proven by the creation of the workload alone", () => {
    const moment = momentAt(second * 1000, { absentSince: () => 0 });
    const workload = { ...optional, ...first(501) };
    expect(decide({ workload, lookup: lookupOf(), policy: defaultPolicy, moment })).toMatchObject({
      unlisted: expect.any(Number),
    });
  });
});

describe("an object that did not exist when the Pods got their node, and was created later", () => {
  const requested = { monotonic: 1_000_000, serverTime: second };
  const at = (scheduledAt: number): ListedPods => ({ ...listed(scheduledAt), requested });
  /** Absent for 100 s before the list, and created in its second. */
  const created = (
    pods: ListedPods | undefined,
    readers: Partial<PodSpec>,
    wasAbsentSince?: number,
    annotations = {},
    known = onlyOne,
  ) =>
    planned(
      seen({ pod: readers, annotations }, known),
      web("1", second, wasAbsentSince === undefined ? {} : { wasAbsentSince }),
      pods,
    );
  const files = (optional: boolean) => ({
    containers: [{ name: "web", volumeMounts: [{ name: "files", mountPath: "/files" }] }],
    volumes: [{ name: "files", configMap: { name: "web", optional } }],
  });
  const env = (optional: boolean) => readsAll("ConfigMap", "web", optional);
  const since = 900_000;

  it.each<readonly [string, ListedPods | undefined, Partial<PodSpec>, number | undefined, string]>([
    ["is proven if variables require it", at(second - 89), env(false), since, "recorded"],
    ["is proven if files require it", at(second - 89), files(false), since, "recorded"],
    ["is not proven within the margins of clocks", at(second - 90), env(false), since, "firstHash"],
    ["is not proven if no watch has shown that it was absent", at(second - 89), env(false), undefined, "firstHash"],
    ["is not proven if variables start without it", at(second - 89), env(true), since, "firstHash"],
    ["is not proven if files start without it", at(second - 89), files(true), since, "firstHash"],
    [
      "is not proven if one of two readers starts without it",
      at(second - 89),
      { ...files(false), containers: [...(env(true).containers ?? []), ...files(false).containers] },
      since,
      "firstHash",
    ],
    ["is not proven if the response does not have the time", listed(second - 89), env(false), since, "firstHash"],
  ])("%s", (_, pods, readers, wasAbsentSince, outcome) =>
    expect(created(pods, readers, wasAbsentSince).outcome).toBe(outcome),
  );

  it.each<readonly [string, Partial<Workload>, string]>([
    ["is proven if the pod template is the first", first(501, second - 95), "recorded"],
    [
      "is not proven if Pods may be of an earlier pod template, which did not require it",
      { progress: { state: "idle" } },
      "firstHash",
    ],
    [
      "is not proven if Pods of an earlier pod template are kept",
      { ...onlyOne, keptPods: { by: "paused", setting: "", effect: "" } },
      "firstHash",
    ],
  ])("%s", (_, known, outcome) => expect(created(at(second - 89), env(false), since, {}, known).outcome).toBe(outcome));

  it("waits while Kubernetes replaces the Pods of an earlier pod template", () => {
    const progress = { state: "progressing", step: 0, available: 0 } as const;
    expect(created(at(second - 89), env(false), since, {}, { progress })).toMatchObject({ underWay: true });
    expect(created(at(second - 90), env(false), since, {}, { progress })).not.toHaveProperty("underWay");
  });

  it("is not proven if only an annotation requires it: the Pods start without it", () => {
    const named = { "wave.pusher.com/extra-configmaps": "web" };
    expect(created(at(second - 89), {}, since, named).outcome).toBe("firstHash");
  });

  it("asks for a list of the Pods, although the change is newer than the workload", () => {
    const config = web("1", second + 590, { revision: 901 });
    expect(planned(seen(), config, undefined)).not.toHaveProperty("unlisted");
    expect(planned(seen(), { ...config, wasAbsentSince: since }, undefined)).toMatchObject({
      unlisted: expect.any(Number),
    });
  });
});

function first(revision: number, at = second): Pick<Workload, "templateWrite"> {
  return { templateWrite: { revision, at, editedAt: 0, isFirst: true, hasOnlyNewPods: true } };
}

function later(
  revision: number,
  at: number | undefined,
  hasOnlyNewPods = true,
): Pick<Workload, "templateWrite" | "progress"> {
  return {
    templateWrite: { revision, at, editedAt: 0, isFirst: false, hasOnlyNewPods },
    progress: { state: "complete", since: undefined },
  };
}

it("waits for Pods of a pod template that was written after the change, for 30 s without progress", () => {
  const progress = { state: "progressing", step: 0, available: 0 } as const;
  const workload = { ...seen(), ...later(501, second), progress };
  const heldAt = (ms: number) => {
    const moment = momentAt(second * 1000 + ms, { pods: listed(second - 60), progressSince: second * 1000 });
    const policy = { ...defaultPolicy, pacing: defaultFlags };
    return decide({ workload, lookup: lookupOf(web("1", second)), policy, moment });
  };
  expect(heldAt(29_999)).toMatchObject({ outcome: "held", hold: { reason: "progressing" } });
  expect(heldAt(30_000).outcome).toBe("firstHash");
});

it("waits until the status shows that an opt-in has not changed the pod template, if containers have started again", () => {
  const at = (observedGeneration: number) =>
    planned(
      seen({ metadata: { generation: 2 }, status: { observedGeneration, ...oneReplica } }),
      web("1", second),
      listed(second - 60, 1_000, second + 6),
    );
  expect(at(1)).toMatchObject({ outcome: "firstHash", underWay: true });
  expect(at(2)).toMatchObject({ outcome: "recorded", cause: "proven" });
});

describe("a workload that is recorded although nothing shows what its Pods read", () => {
  const config = web("1", second);
  const first = planned(seen(), config, listed(second - 70), recording);
  const patch = patchFor(seen(), { ...first, reason: "", warnings: [] } as never) ?? [];
  const value = patch.find(({ path }) => path.endsWith("recorded-config"));
  const recordedConfig = value !== undefined && "value" in value ? String(value.value) : "";
  const recorded = seen({ annotations: { "wave.pusher.com/recorded-config": recordedConfig } });

  it("says so, with both times", () => {
    expect(first).toMatchObject({ outcome: "recorded", unproven: { changedAt: second, podsAt: second - 70 } });
    expect(recordedConfig).toBe(` ${hashOf(config)} unproven=${second},${second - 70}`);
    expect(planned(recorded, config, listed(second - 70))).toMatchObject({
      outcome: "current",
      unproven: { changedAt: second, podsAt: second - 70 },
    });
  });

  it("says so while Kubernetes replaces the Pods, because that rollout may be undone", () => {
    const progress = { state: "progressing", step: 0, available: 0 } as const;
    const workload = { ...seen(), ...later(501, second), progress };
    expect(planned(workload, config, listed(second - 70), recording)).toMatchObject({
      outcome: "recorded",
      unproven: { changedAt: second, podsAt: second - 70 },
    });
  });

  it("is recorded again as soon as all of its Pods are newer", () => {
    const again = planned(recorded, config, listed(second + 5));
    expect(again).toMatchObject({ outcome: "recorded", cause: "proven" });
    expect(again).not.toHaveProperty("unproven");
  });

  it("gets the hash if a person has just requested a restart", () => {
    const at = (ms: number) => new Date((second + 600) * 1000 - ms).toISOString();
    const requested = (time: string) => {
      const annotations = { "wave.pusher.com/recorded-config": recordedConfig, "wave.pusher.com/roll-requested": time };
      return planned(seen({ annotations }), config, listed(second - 70)).outcome;
    };
    expect(requested(at(5_000))).toBe("firstHash");
    expect(requested(at(605_000))).toBe("current");
  });

  it("rolls with the next change", () => {
    expect(planned(recorded, web("2", second + 9), listed(second - 70)).outcome).toBe("roll");
  });
});

it("forgets in the write of the proof when the configuration differed, so that a later leader replaces no proven Pod", () => {
  const annotations = { "wave.pusher.com/config-differed": `${hashOf(web("1", second))} 2027-01-15T08:00:00Z/` };
  const workload = seen({ annotations, templateAnnotations: hashed("1") });
  const written = (pods: ListedPods, stored: object = annotations) => {
    const plan = { ...planned(workload, web("2", second), pods), reason: "", warnings: [] } as never;
    const patch = (patchFor(workload, plan) ?? []).filter(({ path }) => path.endsWith("config-differed"));
    return applyJsonPatch({ metadata: { annotations: { other: "", ...stored } } }, JSON.parse(JSON.stringify(patch)));
  };
  const forgotten = { metadata: { annotations: { other: "" } } };
  expect(written(listed(second + 1))).toEqual(forgotten);
  // Another client has removed it, and the cache is behind.
  expect(written(listed(second + 1), {})).toEqual(forgotten);
  expect(written(listed(second))).not.toEqual(forgotten);
});

it("replaces the Pods if the content of the hash returns after other content was recorded", () => {
  const [before, other] = [web("1", second), web("2", second)];
  const annotations = {
    "wave.pusher.com/recorded-config": `${hashOf(before)} ${hashOf(other)}`,
    "wave.pusher.com/config-differed": `${hashOf(before)} 2027-01-15T08:00:00Z/`,
  };
  const workload = seen({ templateAnnotations: hashed("1"), annotations });
  const plan = planned(workload, { ...before, changedAt: second + 60 }, listed(second + 30));
  expect(plan).toMatchObject({ outcome: "roll", hash: hashOf(before) });
  const patch = patchFor(workload, { ...plan, reason: "", warnings: [] } as never, 0) ?? [];
  expect(patch.map(({ path }) => path)).toEqual(
    expect.arrayContaining([
      "/spec/template/metadata/annotations/wave.pusher.com~1rolled-at",
      "/metadata/annotations/wave.pusher.com~1recorded-config",
      // A later leader would replace the new Pods: in this time, other content was recorded, and new Pods read that of the hash.
      "/metadata/annotations/wave.pusher.com~1config-differed",
    ]),
  );
});
