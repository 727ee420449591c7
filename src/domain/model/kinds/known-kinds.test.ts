import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { WorkloadObject } from "../workload.ts";
import { knownKinds } from "./known-kinds.ts";
import { anyKind } from "./requested-kind.ts";

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
    const lines = rows.map(([id, { completeWhen }]) => `| ${id.includes(".") ? `\`${id}\`` : id} | ${completeWhen} |`);
    const begin = page.indexOf("|---|---|\n") + "|---|---|\n".length;
    expect(page.slice(begin, page.indexOf("\n\n", begin)).split("\n")).toEqual(lines);
    const [usual, ofCronJobs] = [anyKind.template, knownKinds["cronjobs.batch"]?.template];
    for (const [id, { template }] of rows) expect(template, id).toBe(id === "cronjobs.batch" ? ofCronJobs : usual);
    expect(page).toContain(`The pod template is at \`${usual}\`. For CronJobs, it is at \`${ofCronJobs}\`.`);
  });
});
