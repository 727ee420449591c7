import { expect, it, onTestFinished } from "vitest";
import { startApiServer } from "../../../../sandbox/requests/api-server.ts";
import { workload } from "../../../../test/support/domain/objects.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { workload as storedWorkload } from "../../../../test/support/fake-cluster.ts";
import { memoryClient } from "../../../../test/support/memory-client.ts";
import { builtInKinds } from "../../../domain/model/kinds/apps-kinds.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import type { KubeObject } from "../../../kube/api/resources.ts";
import { soleLeadership } from "../../../runtime/write-permits.ts";
import { silentLogger } from "../../../telemetry/logging/log.ts";
import { NewPodsWatch } from "./new-pods-watch.ts";

/** Watches the rollout of a StatefulSet, whose Pod the scheduler finds no node for. The clock of Wave differs from that of the API server. */
async function watchedRollout(differs = 0, isNewLeader = false) {
  const clock = new FakeClock();
  const client = memoryClient(startApiServer({ controllers: false, clock }), async () => {});
  const namespace = "/apis/apps/v1/namespaces/default";
  const body = storedWorkload("web");
  const { metadata } = await client.request<KubeObject>({ method: "POST", path: `${namespace}/statefulsets`, body });
  const controller = { apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid: metadata.uid, controller: true };
  const pods = "/api/v1/namespaces/default/pods";
  const pod = {
    metadata: {
      name: "web-0",
      labels: { app: "web" },
      annotations: { "wave.pusher.com/config-hash": "new" },
      ownerReferences: [controller],
    },
    spec: { containers: [{ name: "main", image: "nginx" }] },
  };
  await client.request({ method: "POST", path: pods, body: pod });
  const setScheduled = (condition: object) =>
    client.request({
      ...{ method: "PATCH", path: `${pods}/web-0/status`, contentType: "application/merge-patch+json" },
      body: { status: { conditions: [{ type: "PodScheduled", ...condition }] } },
    });
  await setScheduled({ status: "False", reason: "Unschedulable", message: "no room" });

  const rolled = {
    ...workload({ kind: "StatefulSet", templateAnnotations: { "wave.pusher.com/config-hash": "new" } }),
    uid: metadata.uid,
    rolledAt: Math.floor(clock.wall() / 1000),
    progress: { state: "progressing", step: 0, available: 0 } as const,
  };
  const cached = { workload: rolled as Workload };
  const shown: unknown[] = [];
  const stop = new AbortController();
  const watch = new NewPodsWatch({
    client,
    caches: { workload: () => cached.workload, kinds: () => builtInKinds },
    leadership: soleLeadership(stop.signal),
    clock: { ...clock, wall: () => clock.wall() + differs },
    log: silentLogger,
    random: () => 0,
    watchMs: 300_000,
    lastWrite: () => (isNewLeader ? undefined : { hash: "new", at: 0 }),
    onChange: () => shown.push([clock.monotonic(), watch.of(rolled)?.state]),
  });
  if (!isNewLeader) watch.watch(key);
  watch.watchIfSlow(key);
  const running = watch.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  const advanceTo = async (ms: number) => {
    while (clock.monotonic() < ms) await clock.advance(1_000);
  };
  /** Writes an Event about the Pod, as a controller of volumes does. */
  const report = async (reason: string, message: string) => {
    const { metadata } = await client.request<KubeObject>({ method: "GET", path: `${pods}/web-0` });
    const involvedObject = { kind: "Pod", namespace: "default", name: "web-0", uid: metadata.uid };
    const lastTimestamp = new Date(clock.wall()).toISOString();
    const body = { metadata: { name: "web-0.1" }, involvedObject, reason, message, lastTimestamp };
    await client.request({ method: "POST", path: "/api/v1/namespaces/default/events", body });
  };
  return { watch, rolled, cached, shown, setScheduled, report, advanceTo };
}

const key = "StatefulSet/default/web";

it.each([0, 600_000, -600_000])(
  "finds a stuck Pod after 30 s by the API server, with a clock that differs by %d ms",
  async (differs) => {
    const { shown, advanceTo } = await watchedRollout(differs);
    await advanceTo(60_000);
    expect(shown.at(-1)).toEqual([30_000, "stuck"]);
    expect(shown.filter((each) => `${each}`.endsWith("stuck"))).toHaveLength(1);
  },
);

it.each([600_000, -600_000])(
  "finds a stuck Pod after 30 s also as a new leader, with a clock that differs by %d ms",
  async (differs) => {
    const { watch, shown, advanceTo } = await watchedRollout(differs, true);
    await advanceTo(20_000);
    watch.watchIfSlow(key);
    await advanceTo(60_000);
    expect(shown.at(-1)).toEqual([30_000, "stuck"]);
  },
);

it("finds a Pod whose volume is not attached by the Event about the Pod", async () => {
  const { watch, rolled, setScheduled, report, advanceTo } = await watchedRollout();
  await setScheduled({ status: "True" });
  await report("FailedAttachVolume", "Multi-Attach error");
  await advanceTo(120_000);
  expect(watch.of(rolled)).toMatchObject({ state: "stuck", pod: "web-0", reason: "FailedAttachVolume" });
});

it("gives a Pod that was stuck the whole time of a rollout for its start", async () => {
  const { shown, setScheduled, advanceTo } = await watchedRollout();
  await advanceTo(900_000);
  await setScheduled({ status: "True" });
  await advanceTo(1_700_000);
  const [[freedAt, freed], [overAt, over]] = shown.slice(-2) as [[number, unknown], [number, unknown]];
  expect([freed, over]).toEqual(["unread", undefined]);
  expect(freedAt).toSatisfy((at: number) => at > 900_000 && at <= 960_000);
  // Wave reads them once a minute, and they may have been stuck until the read that shows their start.
  expect(overAt - freedAt).toSatisfy((ms: number) => ms >= 300_000 && ms <= 360_000);
});

it("forgets that a Pod was stuck when its rollout is complete", async () => {
  const { watch, rolled, cached, advanceTo } = await watchedRollout();
  await advanceTo(40_000);
  expect(watch.of(rolled)?.state).toBe("stuck");
  cached.workload = { ...rolled, progress: { state: "complete", since: undefined } };
  watch.watchIfSlow(key);
  // The controller has not observed a write of annotations yet.
  expect(watch.of(rolled)).toBeUndefined();
});
