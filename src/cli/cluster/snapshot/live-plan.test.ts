import { expect, it } from "vitest";
import { configMap, defaultPolicy, workloadObject } from "../../../../test/support/domain/objects.ts";
import { changedAt, defaultFlags, noon, outdated } from "../../../../test/support/pacing/due.ts";
import { builtInKinds } from "../../../domain/model/kinds/apps-kinds.ts";
import { decide } from "../../../domain/plan/decide.ts";
import { configKey } from "../../../domain/references/references.ts";
import type { ReadPods, RunningPod } from "../read/pods.ts";
import { worldOf } from "./live-plan.ts";

const policy = {
  ...defaultPolicy,
  pacing: { ...defaultFlags, maxConcurrent: 0 },
  keys: { state: "not requested", why: "" },
  kinds: builtInKinds,
} as const;

/** Returns the plan at noon of a workload whose ConfigMap has a change time this many seconds later. */
function planned(seconds: number) {
  const config = changedAt(configMap("web", { a: "new" }), noon / 1000 + seconds);
  const read = new Map([[configKey(config), { state: "present", config } as const]]);
  return decide(worldOf({ object: workloadObject(), workload: outdated() }, read, policy, noon));
}

it("settles by the times of the API, except those in the future", () => {
  expect(planned(0)).toMatchObject({ outcome: "held", hold: { reason: "settling", until: noon + 1_000 } });
  expect(planned(2)).toMatchObject({ outcome: "held", hold: { reason: "settling" } });
  expect(planned(3_600)).toMatchObject({ outcome: "roll" });
});

it("shows the restarts and the progress of the Pods that were read, as the leader sees them", () => {
  const workload = outdated({ rolledAt: noon / 1000 });
  const hash = workload.recordedHash;
  const observed = { hash, name: "web-1", createdAt: noon, restarts: { container: "web", count: 3 } };
  const pod = { hash, startedAt: noon / 1000 + 5, observed } as RunningPod;
  const pods: ReadPods = { state: "read", of: () => [pod], terminating: () => [] };
  const found = { object: workloadObject(), workload };
  expect(worldOf(found, new Map(), policy, noon + 60_000, { pods }).moment).toMatchObject({
    newPods: { state: "restarts", pod: "web-1", container: "web", restarts: 3 },
    advancedAt: noon + 5_000,
  });
  expect(worldOf(found, new Map(), policy, noon + 60_000).moment).not.toHaveProperty("newPods");
});
