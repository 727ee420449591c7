import { describe, expect, it } from "vitest";
import { type WorkloadFixture, workload } from "../../../../test/support/domain/objects.ts";

const progress = (wanted: WorkloadFixture) => workload(wanted).progress;
const complete = { state: "complete", since: undefined };
const idle = { state: "idle" };
const observedGeneration = 3;

describe("the progress of a Deployment", () => {
  const status = { observedGeneration, replicas: 3, updatedReplicas: 3, availableReplicas: 3 };
  const condition = (reason: string) => ({
    conditions: [{ type: "Progressing", reason, lastUpdateTime: "2026-01-01T00:00:10Z" }],
  });
  const deployment = (more: object = {}, spec: object = {}) =>
    progress({ spec: { replicas: 3, ...spec }, status: { ...status, ...more } });

  it("is complete when all Pods are updated and available, since the time in its condition", () => {
    expect(deployment()).toEqual(complete);
    const since = Date.UTC(2026, 0, 1, 0, 0, 10) / 1000;
    expect(deployment(condition("NewReplicaSetAvailable"))).toEqual({ state: "complete", since });
  });

  it("shows that it was complete before an edit that its status does not contain yet", () => {
    const earlier = (more: object) => deployment({ observedGeneration: 2, ...more });
    expect(earlier({})).toMatchObject({ state: "progressing", wasComplete: true });
    expect(earlier({ availableReplicas: 2 })).not.toHaveProperty("wasComplete");
    expect(earlier({ updatedReplicas: 2 })).not.toHaveProperty("wasComplete");
    expect(earlier(condition("ProgressDeadlineExceeded"))).not.toHaveProperty("wasComplete");
    expect(deployment({ availableReplicas: 2 })).not.toHaveProperty("wasComplete");
  });

  it("is idle if it has no Pods, including terminating ones", () => {
    const none = { replicas: 0, updatedReplicas: 0, availableReplicas: 0 };
    expect(deployment(none, { replicas: 0 })).toEqual(idle);
    expect(deployment({ ...none, observedGeneration: 2 }, { replicas: 0 }).state).toBe("progressing");
    expect(deployment({ ...none, replicas: 1 }, { replicas: 0 }).state).toBe("progressing");
  });

  it.each([
    ["its controller has not seen the template", { observedGeneration: 2 }],
    ["it was never seen", { observedGeneration: undefined }],
    ["Pods are missing", { updatedReplicas: 2, replicas: 2 }],
    ["old ones are still there", { replicas: 4 }],
    ["one is not available", { availableReplicas: 2 }],
  ])("is progressing while %s", (_, more) => {
    expect(deployment(more).state).toBe("progressing");
    expect(deployment({ ...more, ...condition("NewReplicaSetAvailable") }).state).toBe("progressing");
  });

  it("has failed after its deadline, but not the deadline of an earlier template", () => {
    const late = { availableReplicas: 2, ...condition("ProgressDeadlineExceeded") };
    expect(deployment(late)).toEqual({ state: "failed" });
    expect(deployment({ ...late, observedGeneration: 2 }).state).toBe("progressing");
  });

  it("takes a step for each Pod that is replaced or becomes available, and none for a Pod that is only created", () => {
    const steps = [
      [4, 1, 3],
      [4, 1, 4],
      [3, 1, 3],
      [4, 2, 3],
      [4, 2, 4],
    ].map(([replicas, updatedReplicas, availableReplicas]) => {
      const at = deployment({ replicas, updatedReplicas, availableReplicas });
      return at.state === "progressing" ? at.step : undefined;
    });
    expect(steps).toEqual([-3, -2, -1, -1, 0]);
  });

  it("is idle while it is paused", () => {
    expect(deployment({ updatedReplicas: 0, observedGeneration: 2 }, { paused: true })).toEqual(idle);
  });
});

describe("the progress of a StatefulSet", () => {
  const status = { observedGeneration, updatedReplicas: 3, availableReplicas: 3, currentRevision: "b" };
  const statefulSet = (more: object = {}, spec: object = {}) =>
    progress({
      kind: "StatefulSet",
      spec: { replicas: 3, ...spec },
      status: { ...status, updateRevision: "b", ...more },
    });
  const partition = (from: number) => ({
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: from } },
  });

  it("is complete when all Pods have the revision and are available", () => {
    expect(statefulSet()).toEqual(complete);
    expect(statefulSet({ currentRevision: "a", updatedReplicas: 2 }).state).toBe("progressing");
    expect(statefulSet({ availableReplicas: 2 })).toMatchObject({ state: "progressing", step: 8, available: 2 });
    expect(statefulSet({ observedGeneration: 2 }).state).toBe("progressing");
    expect(statefulSet({ availableReplicas: undefined, readyReplicas: 3 })).toEqual(complete);
  });

  it("names the Pod that Kubernetes waits for, if it replaces Pods in order", () => {
    const waitsFor = (more: object, spec?: object) => {
      const found = statefulSet({ availableReplicas: 2, ...more }, spec);
      return found.state === "progressing" ? found.waitsFor : undefined;
    };
    const replacing = (updatedReplicas: number) => ({ currentRevision: "a", updatedReplicas });
    expect(waitsFor(replacing(1))).toBe("web-2");
    expect(waitsFor(replacing(2))).toBe("web-1");
    expect(waitsFor(replacing(0))).toBe("web-2");
    expect(waitsFor(replacing(1), { ordinals: { start: 5 } })).toBe("web-7");
    expect(waitsFor({ replicas: 1 })).toBe("web-0");
    expect(waitsFor({ replicas: 0 })).toBeUndefined();
    expect(waitsFor(replacing(1), { podManagementPolicy: "Parallel" })).toBeUndefined();
    expect(waitsFor({ ...replacing(1), availableReplicas: 3 })).toBeUndefined();
    expect(waitsFor({ ...replacing(1), observedGeneration: 2 })).toBeUndefined();
  });

  it("is complete when all Pods from its partition are updated", () => {
    expect(statefulSet({ currentRevision: "a", updatedReplicas: 1 }, partition(2))).toEqual(complete);
    expect(statefulSet({ currentRevision: "a", updatedReplicas: 0 }, partition(2)).state).toBe("progressing");
    expect(statefulSet({ currentRevision: "a", updatedReplicas: 0 }, partition(3))).toEqual(idle);
    expect(statefulSet({ currentRevision: "a", updatedReplicas: 0 }, partition(5))).toEqual(idle);
  });

  it("is idle if it has no Pods, or a person must delete them", () => {
    expect(statefulSet({ updatedReplicas: 0, availableReplicas: 0 }, { replicas: 0 })).toEqual(idle);
    expect(statefulSet({ currentRevision: "a" }, { updateStrategy: { type: "OnDelete" } })).toEqual(idle);
  });
});

describe("the progress of a DaemonSet", () => {
  const status = { observedGeneration, desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 3 };
  const daemonSet = (more: object = {}, spec: Readonly<Record<string, unknown>> = {}) =>
    progress({ kind: "DaemonSet", spec, status: { ...status, ...more } });

  it("is complete when all desired Pods are updated and available", () => {
    expect(daemonSet()).toEqual(complete);
    expect(daemonSet({ updatedNumberScheduled: 2 })).toEqual({ state: "progressing", step: 7, available: 3 });
    expect(daemonSet({ numberAvailable: 2 })).toEqual({ state: "progressing", step: 8, available: 2 });
    expect(daemonSet({ observedGeneration: 2 }).state).toBe("progressing");
  });

  it("is idle if no node matches, or a person must delete its Pods", () => {
    expect(daemonSet({ desiredNumberScheduled: 0, updatedNumberScheduled: 0, numberAvailable: 0 })).toEqual(idle);
    expect(daemonSet({ updatedNumberScheduled: 0 }, { updateStrategy: { type: "OnDelete" } })).toEqual(idle);
  });
});
