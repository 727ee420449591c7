import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { notificationMetrics } from "../../../telemetry/catalogue/notifications.ts";
import { MetricsRegistry } from "../../../telemetry/metrics/metrics.ts";
import { toRunningWave } from "../../cluster/running-wave/running-wave.ts";
import type { DoctorContext } from "../context/doctor-context.ts";
import { checkReceivers } from "./receivers.ts";

/** The results of the notifications of one replica: receiver, result and number. */
type Counts = readonly (readonly [receiver: string, result: "sent" | "failed" | "dropped", count: number])[];

/** Checks a Wave whose replicas have these metrics. */
async function check(replicas: Readonly<Record<string, Counts>>, ...flags: readonly string[]) {
  const items = Object.keys(replicas).map((name) => ({
    metadata: { name, namespace: "wave" },
    status: { phase: "Running" },
  }));
  const answer = (path: string) => {
    const pod = /\/pods\/([^:%]+)(?::|%3A)9\/proxy\/metrics$/.exec(path)?.[1];
    if (pod === undefined) return JSON.stringify({ kind: "PodList", apiVersion: "v1", metadata: {}, items });
    const registry = new MetricsRegistry();
    const counts = replicas[pod] ?? [];
    const counter = registry.counter(notificationMetrics.notifications, { receiver: counts.map(([name]) => name) });
    for (const [receiver, result, count] of counts) counter.inc({ receiver, result }, count);
    return registry.render();
  };
  const client: ApiClient = {
    request: () => Promise.reject(new Error("no request")),
    stream: async ({ path }) => Readable.from([Buffer.from(answer(path))]),
    close: async () => {},
  };
  const container = { name: "wave", args: ["run", "--metrics-bind-address=:9", ...flags] };
  const object = {
    metadata: { name: "wave", namespace: "wave" },
    spec: { selector: { matchLabels: { app: "wave" } }, template: { spec: { containers: [container] } } },
    status: { readyReplicas: 1 },
  } as unknown as KubeObject;
  const wave = toRunningWave(object as never);
  const context = { cluster: { client }, watching: [wave] } as unknown as DoctorContext;
  const { found, fine } = await checkReceivers(context);
  return found.length === 0 ? fine : found.map(({ severity, what, fix }) => `${severity}: ${what} → ${fix}`);
}

describe("the receivers of notifications", () => {
  const notify = "--notify=/notify/notify.yaml";

  it("have a problem if they accept nothing, and a warning if they accept some", async () => {
    const found = await check(
      {
        "wave-1": [
          ["dead", "failed", 2],
          ["mixed", "sent", 3],
        ],
        "wave-2": [
          ["dead", "failed", 1],
          ["mixed", "failed", 1],
          ["good", "sent", 7],
        ],
      },
      notify,
    );
    expect(found).toEqual([
      'problem: Receiver "dead" of --notify accepted 0 of 3 notifications since Wave started. → kubectl logs -n wave pod/wave-2',
      'warning: Receiver "mixed" of --notify accepted 3 of 4 notifications since Wave started. → kubectl logs -n wave pod/wave-2',
    ]);
  });

  it("are fine if they accept everything, and if there are none", async () => {
    expect(await check({ "wave-1": [["good", "sent", 7]] }, notify)).toBe("1 receiver accepts messages");
    expect(await check({ "wave-1": [] })).toBe("no receivers");
  });
});
