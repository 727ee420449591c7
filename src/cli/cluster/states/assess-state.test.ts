import { describe, expect, it } from "vitest";
import { workloadObject } from "../../../../test/support/domain/objects.ts";
import { defaultFlags, noon } from "../../../../test/support/pacing/due.ts";
import { parseRequestedKind, requestedKindRow } from "../../../domain/model/kinds/requested-kind.ts";
import { toWorkload } from "../../../domain/model/workload.ts";
import type { WorkloadObject } from "../../../domain/model/workload-references.ts";
import { desiredPods } from "../../../domain/pods/pod-owner.ts";
import { configHash } from "../../../domain/references/annotations.ts";
import type { PodCount, ReadPods, RunningPod } from "../read/pods.ts";
import { assessState, type StateFacts, statusProgressSince } from "./assess-state.ts";
import { pinningTexts } from "./pod-pinning.ts";
import { kubernetesReasonOf } from "./state-rows.ts";

/** Returns the state of an object that Wave rolled a day ago, with this number of current Pods. */
function standing(
  kind: string,
  wanted: Parameters<typeof workloadObject>[0],
  counted: Pick<PodCount, "current" | "total">,
  running: readonly RunningPod[] = [],
  facts: Partial<StateFacts> = {},
) {
  const podCount = { ...counted, ready: counted.total, notReadyReasons: [], restarts: 0, terminatingOld: 0 };
  const named = parseRequestedKind(kind);
  if (named === undefined) throw new Error(`${kind} cannot be named`);
  const row = requestedKindRow(named, { apiVersion: `${named.group}/v1`, kind: "Any" });
  const written = { manager: "wave", operation: "Update", time: new Date(noon - 86_400_000).toISOString() };
  const object = workloadObject({ ...wanted, metadata: { managedFields: [written] } });
  return assessState({
    ...{ object, workload: toWorkload(row, object), outcome: "current", reason: "", hold: null, podCount },
    ...{ unread: undefined, kubernetes: null, dueSince: undefined, flags: defaultFlags, now: noon },
    pods: { state: "read", of: () => running, terminating: () => [] },
    pinning: null,
    rolledBack: [],
    unproven: undefined,
    lastChange: "",
    ...facts,
  });
}

it("names the Pods that read a held change although their template names copies", () => {
  const hold = { reason: "approval", message: "Waiting for approval.", until: undefined, warning: false } as const;
  const pinning = { pinned: 1, partlyPinned: 0, unpinned: 1, why: [pinningTexts.notPointed(1)] };
  const counted = { current: 2, total: 2 };
  expect(standing("deployments.apps", {}, counted, [], { outcome: "held", hold, pinning })).toMatchObject({
    state: "held",
    because: "approval",
    message: `Waiting for approval. ${pinningTexts.notPointed(1)}`,
  });
});

describe("the state of a Rollout", () => {
  const at = (phase: string, podCount: Pick<PodCount, "current" | "total">) =>
    standing("rollouts.argoproj.io", { spec: { replicas: 2 }, status: { observedGeneration: "3", phase } }, podCount);

  it("is current as soon as it is healthy, although previous Pods stay for a while", () => {
    expect(at("Healthy", { current: 2, total: 4 }).state).toBe("current");
    expect(at("Healthy", { current: 1, total: 4 }).state).toBe("behind");
  });

  it("is rolling while it waits at a step", () => {
    expect(at("Paused", { current: 1, total: 2 }).state).toBe("rolling");
  });

  it("is failed if its status reports it", () => {
    const failed = at("Degraded", { current: 0, total: 2 });
    expect(failed).toMatchObject({ state: "failed", because: "Degraded" });
    expect(failed.message).toBe("The status reports Degraded. 0 of 2 Pods run with the current configuration.");
  });
});

describe("the state of a CloneSet", () => {
  const at = (updateStrategy: object, updatedReplicas: number) => {
    const status = { observedGeneration: 3, replicas: 3, availableReplicas: 3, updatedReplicas };
    const spec = { replicas: 3, updateStrategy };
    return standing("clonesets.apps.kruise.io", { spec, status }, { current: updatedReplicas, total: 3 });
  };

  it("names the setting that keeps old Pods", () => {
    expect(at({ partition: "99%" }, 1)).toMatchObject({ state: "behind", because: "partition" });
    expect(at({ paused: true, partition: 0 }, 0)).toMatchObject({ state: "behind", because: "paused" });
    expect(at({ partition: 0 }, 3)).toMatchObject({ state: "current" });
  });
});

describe("the state of a CloneSet that Wave rolled longer ago than --rollout-timeout", () => {
  const status = { observedGeneration: 3, replicas: 3, availableReplicas: 2, updatedReplicas: 2 };
  const hash = "v2:1";
  const wanted = { spec: { replicas: 3 }, status, templateAnnotations: { [configHash]: hash } };
  const at = (minutes: number, of = hash, ahead = 0) => {
    const startedAt = noon / 1000 - 60 * minutes;
    const observed = {
      ...{
        name: "web-1",
        uid: "1",
        hash: of,
        createdAt: startedAt,
        ending: false,
        ready: true,
        notReadyReason: undefined,
        start: { state: "started" } as const,
      },
      ...{
        restarts: { container: "web", count: 0 },
        exit: undefined,
        liveObjects: [],
        reads: [],
        volumesAt: startedAt,
      },
    };
    const files = new Set<string>();
    const pod: RunningPod = {
      hash: of,
      pinned: undefined,
      revision: undefined,
      startedAt,
      observed,
      times: { scheduledAt: startedAt, envAt: 0 },
      files,
      env: files,
    };
    const apiTime = noon - 60_000 * ahead;
    const pods: ReadPods = { state: "read", at: apiTime, of: () => [pod], terminating: () => [] };
    return standing("clonesets.apps.kruise.io", wanted, { current: 2, total: 3 }, [pod], { pods });
  };

  it("is rolling while new Pods start, and failed when none has started for that long", () => {
    expect(at(9)).toMatchObject({ state: "rolling" });
    expect(at(11)).toMatchObject({ state: "failed", because: "timeout" });
    expect(at(9, "v2:before")).toMatchObject({ state: "failed" });
  });

  it("compares the Pods with the clock of the API server, and not with that of this machine", () => {
    expect(at(11, hash, 2)).toMatchObject({ state: "rolling" });
    expect(at(9, hash, -2)).toMatchObject({ state: "failed", because: "timeout" });
  });
});

describe("the state of a custom resource with a malformed status", () => {
  it.each(["text", null, 3, [], { conditions: {} }, { conditions: [null, "text", { type: 1 }] }])(
    "is empty for the status %j, without an error",
    (status) => {
      const object = { spec: { replicas: "many" }, status } as unknown as WorkloadObject;
      expect(kubernetesReasonOf(object)).toBeNull();
      expect(statusProgressSince(object, { rolledAt: 7 })).toBe(7_000);
      expect(desiredPods(object)).toBe(1);
    },
  );

  it("comes from the fields of built-in kinds", () => {
    const conditions = [{ type: "Progressing", status: "True", lastUpdateTime: "2026-01-31T12:00:00Z" }];
    const object = { spec: { replicas: 3 }, status: { conditions } } as WorkloadObject;
    expect(statusProgressSince(object, { rolledAt: 7 })).toBe(Date.parse("2026-01-31T12:00:00Z"));
    expect(desiredPods(object)).toBe(3);
    expect(desiredPods({ status: { desiredNumberScheduled: 2 } } as WorkloadObject)).toBe(2);
  });
});
