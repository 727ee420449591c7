import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { allCompatibilities } from "../../../../test/support/domain/compatibility.ts";
import { planRollout } from "../../../../test/support/domain/decisions.ts";
import { configMap, lookupOf, readsAll, workloadObject } from "../../../../test/support/domain/objects.ts";
import { rollInProgress } from "../../config/tracked-view.ts";
import { patchFor } from "../../patch/workload-patch.ts";
import { matchesObject, withProgressOf } from "../cached-workload.ts";
import { invalidScheduler } from "../scheduling-hold.ts";
import { toWorkload } from "../workload.ts";
import type { WorkloadObject } from "../workload-references.ts";
import type { Workload } from "../workload-shape.ts";
import { knownKinds } from "./known-kinds.ts";
import { anyKind, parseRequestedKind, requestedKindRow } from "./requested-kind.ts";

/** Returns the progress of an object of a kind with three desired Pods. */
function progress(id: string, spec: object, status: object | undefined) {
  const object = { metadata: { generation: 3 }, spec: { replicas: 3, ...spec }, status };
  return (knownKinds[id] ?? anyKind).progress(object as unknown as WorkloadObject);
}

const complete = { state: "complete", since: undefined };
const idle = { state: "idle" };

describe("the progress of a Rollout", () => {
  const of = (status: object, spec: object = {}) =>
    progress("rollouts.argoproj.io", spec, { observedGeneration: "3", availableReplicas: 3, ...status });

  it("follows its phase", () => {
    expect(of({ phase: "Healthy" })).toEqual(complete);
    expect(of({ phase: "Degraded" })).toEqual({ state: "failed", statusWord: "Degraded" });
    expect(of({ phase: "Progressing" }).state).toBe("progressing");
  });

  it("is progressing while it is paused at a step, and the next step is progress", () => {
    const [one, two] = [1, 2].map((currentStepIndex) => of({ phase: "Paused", currentStepIndex }));
    expect(one?.state).toBe("progressing");
    expect(one).not.toEqual(two);
  });

  it("is progressing while its phase is of an earlier generation", () => {
    for (const phase of ["Healthy", "Degraded"])
      for (const observedGeneration of ["2", "", "abc", undefined])
        expect(of({ phase, observedGeneration }).state).toBe("progressing");
  });

  it("is idle if nothing is replaced", () => {
    expect(of({ phase: "Paused" }, { paused: true })).toEqual(idle);
    expect(of({ phase: "Healthy" }, { replicas: 0 })).toEqual(idle);
  });
});

describe.for([
  ["clonesets.apps.kruise.io", (partition: unknown) => ({ updateStrategy: { partition } })],
  ["statefulsets.apps.kruise.io", (partition: unknown) => ({ updateStrategy: { rollingUpdate: { partition } } })],
] as const)("the progress of %s", ([id, keeping]) => {
  const status = { observedGeneration: 3, updatedReplicas: 3, availableReplicas: 3 };

  it("is complete when all are updated and available", () => {
    expect(progress(id, {}, status)).toEqual(complete);
    for (const more of [{ updatedReplicas: 2 }, { availableReplicas: 2 }, { observedGeneration: 2 }])
      expect(progress(id, {}, { ...status, ...more }).state).toBe("progressing");
    expect(progress(id, {}, undefined).state).toBe("progressing");
  });

  it.each([
    [1, 2],
    ["1", 3],
    ["34%", 1],
    ["33%", 2],
    ["50%", 1],
    ["33.4%", 1],
    ["67%", 1],
    ["99%", 1],
  ])("with partition %j is complete when %i are updated", (partition, least) => {
    const onceUpdated = (updatedReplicas: number) => progress(id, keeping(partition), { ...status, updatedReplicas });
    expect(onceUpdated(least)).toEqual(complete);
    expect(onceUpdated(least - 1).state).toBe("progressing");
  });

  // As OpenKruise 1.8.4 wrote it of a CloneSet with `maxUnavailable: 0, maxSurge: 1` whose last new Pod was not available.
  it("is progressing while old Pods replace new ones that are not available", () => {
    const surging = {
      ...{ availableReplicas: 3, expectedUpdatedReplicas: 3, observedGeneration: 3, readyReplicas: 4, replicas: 4 },
      ...{ updatedAvailableReplicas: 2, updatedReadyReplicas: 3, updatedReplicas: 3 },
    };
    expect(progress(id, {}, surging).state).toBe("progressing");
    expect(progress(id, {}, { ...surging, replicas: 3, updatedAvailableReplicas: 3 })).toEqual(complete);
  });

  it("is idle if a partition keeps all Pods", () => {
    expect(progress(id, keeping("100%"), { ...status, updatedReplicas: 0 })).toEqual(idle);
    expect(progress(id, keeping(3), { ...status, updatedReplicas: 0 })).toEqual(idle);
  });
});

describe("the progress of any other kind", () => {
  const of = (status: object | undefined, spec: object = {}) => progress("widgets.example.com", spec, status);

  it("is computed from the fields that it has", () => {
    const status = { observedGeneration: 3, updatedReplicas: 3, availableReplicas: 3 };
    expect(of(status)).toEqual(complete);
    for (const more of [{ updatedReplicas: 2 }, { availableReplicas: 2 }, { observedGeneration: 2 }])
      expect(of({ ...status, ...more }).state).toBe("progressing");
    expect(of({ readyReplicas: 2 }).state).toBe("progressing");
    expect(of({ observedGeneration: 2 }).state).toBe("progressing");
  });

  it("is complete immediately if it has none of these fields", () => {
    expect(of(undefined)).toEqual(complete);
    expect(of({ phase: "Odd", observedGeneration: undefined })).toEqual(complete);
  });

  it("is idle if it is paused or has no Pods", () => {
    expect(of({}, { paused: true })).toEqual(idle);
    expect(of({}, { replicas: 0 })).toEqual(idle);
  });
});

describe("docs/kinds.md", () => {
  it("has each known kind", () => {
    const page = readFileSync(new URL("../../../../docs/kinds.md", import.meta.url), "utf8");
    const rows = [...Object.entries(knownKinds), ["any other", anyKind] as const];
    const begin = page.indexOf("|---|---|\n") + "|---|---|\n".length;
    const lines = page.slice(begin, page.indexOf("\n\n", begin)).split("\n");
    const starts = rows.map(([id]) => `| ${id.includes(".") ? `\`${id}\`` : id} | `);
    expect(lines.map((line, i) => line.slice(0, starts[i]?.length))).toEqual(starts);
    for (const [i, line] of lines.entries()) expect(line.slice(starts[i]?.length)).toMatch(/^[^|]{10,} \|$/);
    const [usual, ofCronJobs] = [anyKind.template, knownKinds["cronjobs.batch"]?.template];
    for (const [id, { template }] of rows) expect(template, id).toBe(id === "cronjobs.batch" ? ofCronJobs : usual);
    expect(page).toContain(`The pod template is at \`${usual}\`. For CronJobs, it is at \`${ofCronJobs}\`.`);
  });
});

const wanted = parseRequestedKind("rollouts.argoproj.io");
if (wanted === undefined) throw new Error("rollouts.argoproj.io cannot be named");
const row = requestedKindRow(wanted, { apiVersion: "argoproj.io/v1alpha1", kind: "Rollout" });
const [configHash, strategy] = ["wave.pusher.com/config-hash", "reloader.stakater.com/rollout-strategy"];
const now = Date.UTC(2026, 10, 22, 4, 5, 6, 789);

const rollout = (annotations: Readonly<Record<string, string>>) =>
  toWorkload(row, workloadObject({ pod: readsAll("ConfigMap", "web"), annotations }), allCompatibilities);

/** What is written of a Rollout when a ConfigMap of this value is there. */
function written(workload: Workload, value: string) {
  const plan = planRollout(workload, lookupOf(configMap("web", { a: value })), allCompatibilities);
  const patch = patchFor(workload, plan, now) ?? [];
  return { plan, adds: patch.filter(({ op, path }) => op === "add" && !path.endsWith("config-digests")) };
}

describe("a Rollout with the restart strategy", () => {
  const hashPath = `/metadata/annotations/${configHash.replace("/", "~1")}`;
  const first = written(rollout({ [strategy]: "restart" }), "1");

  it("has its hash in its own annotation, and the first hash restarts nothing", () => {
    expect(first.adds.map(({ path }) => path)).toEqual([hashPath]);
  });

  it("keeps a hash that a stale cache lacks: the generation does not change, and the next hash would be treated as the first", () => {
    const plan = planRollout(
      rollout({ [strategy]: "restart" }),
      lookupOf(configMap("web", { a: "1" })),
      allCompatibilities,
    );
    const patch = patchFor(rollout({ [strategy]: "restart" }), plan, now);
    expect(patch).toContainEqual({ op: "test", path: hashPath, value: null });
    const recorded = rollout({ [strategy]: "restart", [configHash]: rollInProgress });
    const next = patchFor(
      recorded,
      planRollout(recorded, lookupOf(configMap("web", { a: "1" })), allCompatibilities),
      now,
    );
    expect(next).toContainEqual({ op: "test", path: hashPath, value: rollInProgress });
  });

  it("is restarted when its configuration changes, without a change of its template", () => {
    const hash = "hash" in first.plan ? first.plan.hash : "";
    const recorded = rollout({ [strategy]: "restart", [configHash]: hash });
    expect(written(recorded, "1").plan.outcome).toBe("current");
    const { adds } = written(recorded, "2");
    expect(adds).toEqual([
      { op: "add", path: hashPath, value: expect.stringMatching(/^v2:/) },
      // A Pod that was made in this second may have read what was there before.
      { op: "add", path: "/spec/restartAt", value: "2026-11-22T04:05:07Z" },
    ]);
  });

  it("is rolled through its template if its annotation requests it, or if the compatibility is off", () => {
    for (const workload of [
      rollout({ [strategy]: "rollout" }),
      toWorkload(row, workloadObject({ pod: readsAll("ConfigMap", "web"), annotations: { [strategy]: "restart" } })),
    ])
      expect(written(workload, "1").adds.map(({ path }) => path)).toEqual(["/spec/template/metadata/annotations"]);
  });

  it("is progressing until its controller reports the restart", () => {
    const annotations = { [strategy]: "restart" };
    const progress = (restartedAt: string) =>
      row.progress(
        workloadObject({
          annotations,
          spec: { restartAt: "2026-11-22T04:05:06Z" },
          status: { observedGeneration: "3", phase: "Healthy", restartedAt },
        }),
      ).state;
    expect([progress("2026-11-21T00:00:00Z"), progress("2026-11-22T04:05:06Z")]).toEqual(["progressing", "complete"]);
  });
});

describe("a Rollout whose template is that of a Deployment", () => {
  const withWorkloadRef = (annotations: Readonly<Record<string, string>> = {}, more: object = {}): WorkloadObject => {
    const workloadRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web", ...more };
    return { ...workloadObject({ annotations }), spec: { workloadRef } } as unknown as WorkloadObject;
  };
  const { spec } = workloadObject({
    pod: { ...readsAll("ConfigMap", "web"), schedulerName: invalidScheduler },
    templateAnnotations: { [configHash]: "v2:of the Deployment" },
  });
  const read = (object: WorkloadObject, generation = 7) => {
    if (row.workloadRef === undefined) throw new Error("Rollouts have workloadRef");
    return row.workloadRef.withTemplate(object, spec?.template, generation);
  };

  it("is not rolled while its template source is unknown, with a reason", () => {
    for (const [object, why] of [
      [withWorkloadRef(), "does not exist in this namespace"],
      [withWorkloadRef({}, { kind: "ReplicaSet" }), "Wave reads only the pod templates of Deployments"],
      [withWorkloadRef({}, { name: "../../secrets/x" }), "Wave reads only the pod templates of Deployments"],
    ] as const) {
      const recorded = { ...toWorkload(row, object, allCompatibilities), recordedHash: "v2:before" };
      const { plan, adds } = written(recorded, "1");
      expect(adds).toEqual([]);
      expect(plan).toMatchObject({ outcome: "ignore", reason: expect.stringContaining(why) });
      expect(plan.warnings).toEqual([{ reason: "InvalidAnnotation", message: expect.stringContaining(why) }]);
    }
  });

  it("is not treated as read, whatever its owner writes into it", () => {
    const forged = { generation: 7 };
    const own = {
      ...withWorkloadRef({}, forged),
      spec: { ...withWorkloadRef({}, forged).spec, template: spec?.template },
    };
    const workload = toWorkload(row, own as WorkloadObject, allCompatibilities);
    expect(written(workload, "1").plan.reason).toContain("does not exist in this namespace");
  });

  it.each([null, 1, true, "", "Deployment", [], {}, [["apps/v1"]], { kind: { a: 1 }, name: null }, { name: ["web"] }])(
    "has an empty template if its workloadRef is %j",
    (workloadRef) => {
      const object = { ...withWorkloadRef(), spec: { workloadRef, template: null } } as unknown as WorkloadObject;
      const make = () => written(toWorkload(row, object, allCompatibilities), "1");
      if (workloadRef === null) expect(make).toThrow("spec.template.spec is missing");
      else expect(make()).toMatchObject({ adds: [], plan: { outcome: "ignore" } });
    },
  );

  it("keeps no more text of the workloadRef than the length of a name", () => {
    const long = "x".repeat(1_000_000);
    const annotations = { "rollout.argoproj.io/workload-generation": long };
    const status = { currentPodHash: long };
    const object = { ...withWorkloadRef(annotations, { apiVersion: long, kind: long, name: long }), status };
    const { templateSource } = toWorkload(row, object as unknown as WorkloadObject, allCompatibilities);
    expect(JSON.stringify(templateSource).length).toBeLessThan(2_000);
  });

  it("has its hash in its own annotation, and does not change the hash in the template", () => {
    const { plan, adds } = written(toWorkload(row, read(withWorkloadRef()), allCompatibilities), "1");
    expect(adds.map(({ path }) => path)).toEqual([`/metadata/annotations/${configHash.replace("/", "~1")}`]);
    const hash = "hash" in plan ? plan.hash : "";
    const recorded = toWorkload(row, read(withWorkloadRef({ [configHash]: hash })), allCompatibilities);
    expect(recorded.strategy.name).toBe("templateSource");
    expect(written(recorded, "1").plan.outcome).toBe("current");
    const rolled = written(recorded, "2");
    expect([rolled.plan.outcome, rolled.adds.map(({ path }) => path)]).toEqual(["roll", adds.map(({ path }) => path)]);
  });

  it("is still due after a crash in between, even if the edit was reverted", () => {
    const workload = toWorkload(row, read(withWorkloadRef({ [configHash]: rollInProgress })), allCompatibilities);
    for (const value of ["1", "2"]) expect(written(workload, value).plan.outcome).toBe("roll");
  });

  it("is restarted if its annotation requests it", () => {
    const workload = toWorkload(
      row,
      read(withWorkloadRef({ [strategy]: "restart", [configHash]: `v2:${"0".repeat(64)}` })),
      allCompatibilities,
    );
    expect(written(workload, "2").adds.map(({ path }) => path)).toContain("/spec/restartAt");
  });

  it("is parsed again when its controller has observed another template, but not for its status", () => {
    const known = (generation: string) => withWorkloadRef({ "rollout.argoproj.io/workload-generation": generation });
    const workload = toWorkload(row, read(known("7")), allCompatibilities);
    expect(
      matchesObject(
        workload,
        { ...known("7"), status: { phase: "Paused" } } as unknown as WorkloadObject,
        allCompatibilities,
      ),
    ).toBe(true);
    expect(matchesObject(workload, known("8"), allCompatibilities)).toBe(false);
    expect(matchesObject(toWorkload(row, known("7"), allCompatibilities), known("7"), allCompatibilities)).toBe(false);
  });

  it("is progressing until its controller has observed the template that was read", () => {
    const progressAfter = (workloadObservedGeneration: string) => {
      const status = { observedGeneration: "3", phase: "Healthy", workloadObservedGeneration };
      return withProgressOf(toWorkload(row, read(withWorkloadRef())), {
        ...withWorkloadRef(),
        status,
      } as unknown as WorkloadObject).progress.state;
    };
    expect([progressAfter("6"), progressAfter("7"), progressAfter("8")]).toEqual([
      "progressing",
      "complete",
      "complete",
    ]);
  });
});
