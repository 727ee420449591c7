import { expect, it } from "vitest";
import { startApiServer } from "../../../../sandbox/requests/api-server.ts";
import { workload } from "../../../../test/support/domain/objects.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { workload as storedWorkload } from "../../../../test/support/fake-cluster.ts";
import { memoryClient } from "../../../../test/support/memory-client.ts";
import { builtInKinds } from "../../../domain/model/kinds/apps-kinds.ts";
import type { KubeObject } from "../../../kube/api/resources.ts";
import { soleLeadership } from "../../../runtime/write-permits.ts";
import { silentLogger } from "../../../telemetry/logging/log.ts";
import { NewPodsWatch } from "./new-pods-watch.ts";

it.each([0, 600_000, -600_000])(
  "finds a stuck Pod after 30 s by the API server, with a clock that differs by %d ms",
  async (differs) => {
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
    const unscheduled = { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "no room" };
    const contentType = "application/merge-patch+json";
    const status = { conditions: [unscheduled] };
    await client.request({ method: "PATCH", path: `${pods}/web-0/status`, body: { status }, contentType });

    const rolled = {
      ...workload({ kind: "StatefulSet", templateAnnotations: { "wave.pusher.com/config-hash": "new" } }),
      uid: metadata.uid,
      rolledAt: Math.floor(clock.wall() / 1000),
      progress: { state: "progressing", step: 0, available: 0 } as const,
    };
    const shown: unknown[] = [];
    const stop = new AbortController();
    const watch = new NewPodsWatch({
      client,
      caches: { workload: () => rolled, kinds: () => builtInKinds },
      leadership: soleLeadership(stop.signal),
      clock: { ...clock, wall: () => clock.wall() + differs },
      log: silentLogger,
      random: () => 0,
      watchMs: 300_000,
      lastWrite: () => ({ hash: "new", at: clock.monotonic() }),
      onChange: () => shown.push([clock.monotonic(), watch.of(rolled)?.state]),
    });
    watch.watch("StatefulSet/default/web");
    const running = watch.run(stop.signal);
    while (clock.monotonic() < 60_000) await clock.advance(1_000);
    expect(shown.at(-1)).toEqual([30_000, "stuck"]);
    expect(shown.filter((each) => `${each}`.endsWith("stuck"))).toHaveLength(1);
    stop.abort();
    await running;
  },
);
