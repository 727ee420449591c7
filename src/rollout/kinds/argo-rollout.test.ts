import { describe, expect, it } from "vitest";
import { everybody } from "../dialects/test-dialects.ts";
import { patchFor } from "../patch.ts";
import { planRollout } from "../plan.ts";
import { configMap, lookupOf, readsAll, workloadObject } from "../test-objects.ts";
import { toWorkload, type Workload, type WorkloadObject } from "../workload.ts";
import { readWantedKind, rowOf } from "./wanted-kind.ts";

const wanted = readWantedKind("rollouts.argoproj.io");
if (wanted === undefined) throw new Error("rollouts.argoproj.io cannot be named");
const row = rowOf(wanted, { apiVersion: "argoproj.io/v1alpha1", kind: "Rollout" });
const [configHash, strategy] = ["wave.pusher.com/config-hash", "reloader.stakater.com/rollout-strategy"];
const now = Date.UTC(2026, 10, 22, 4, 5, 6, 789);

const rollout = (annotations: Readonly<Record<string, string>>) =>
  toWorkload(row, workloadObject({ pod: readsAll("ConfigMap", "web"), annotations }), everybody);

/** What is written of a Rollout when a ConfigMap of this value is there. */
function written(workload: Workload, value: string) {
  const plan = planRollout(workload, lookupOf(configMap("web", { a: value })), everybody);
  const patch = patchFor(workload, plan, now) ?? [];
  return { plan, adds: patch.filter(({ op }) => op === "add") };
}

describe("a Rollout that is to be restarted", () => {
  const hashPath = `/metadata/annotations/${configHash.replace("/", "~1")}`;
  const first = written(rollout({ [strategy]: "restart" }), "1");

  it("has its hash in an annotation of its own, of which the first restarts nothing", () => {
    expect(first.adds.map(({ path }) => path)).toEqual([hashPath]);
  });

  it("is restarted when what its Pods see changes, with no change of its template", () => {
    const hash = "hash" in first.plan ? first.plan.hash : "";
    const recorded = rollout({ [strategy]: "restart", [configHash]: hash });
    expect(written(recorded, "1").plan.outcome).toBe("unchanged");
    const { adds } = written(recorded, "2");
    expect(adds).toEqual([
      { op: "add", path: hashPath, value: expect.stringMatching(/^v2:/) },
      // A Pod that was made in this second may have read what was there before.
      { op: "add", path: "/spec/restartAt", value: "2026-11-22T04:05:07Z" },
    ]);
  });

  it("is rolled by its template where its annotation says so, or the dialect is not understood", () => {
    for (const workload of [
      rollout({ [strategy]: "rollout" }),
      toWorkload(row, workloadObject({ pod: readsAll("ConfigMap", "web"), annotations: { [strategy]: "restart" } })),
    ])
      expect(written(workload, "1").adds.map(({ path }) => path)).toEqual(["/spec/template/metadata/annotations"]);
  });

  it("is under way until its controller says that it was restarted", () => {
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
  it("rolls nothing, and tells whose annotations do", () => {
    const { spec: _spec, ...object } = workloadObject();
    const workloadRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
    const workload = toWorkload(row, { ...object, spec: { workloadRef } } as unknown as WorkloadObject);
    expect(written(workload, "1").adds).toEqual([]);
    expect(workload.mistakes).toEqual([
      {
        reason: "InvalidAnnotation",
        message: `its pod template is that of Deployment "web": write Wave's annotations there, then it is rolled with it`,
      },
    ]);
  });
});
