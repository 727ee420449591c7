import { describe, expect, it, onTestFinished } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import { fixedCredentials, unchanging } from "../../kube/config/credentials.ts";
import { createApiClient } from "../../kube/http/client.ts";
import { systemClock } from "../../lib/clock.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { hashOf, observe } from "./observer.ts";
import { page, web } from "./story.ts";

async function observed() {
  const sandbox = await startSandbox();
  const client = createApiClient({
    config: {
      server: new URL(sandbox.url),
      source: "a test",
      tls: unchanging({ insecure: false }),
      credentials: fixedCredentials(),
    },
    clock: systemClock,
    metrics: new MetricsRegistry(),
    userAgent: "test",
  });
  const clock = new FakeClock();
  const stop = new AbortController();
  const signal = stop.signal;
  const observer = observe({ client, namespace: "default", clock, log: silentLogger, stepMs: 10_000, signal });
  const create = async (resource: (typeof resources)["configMaps"], body: object) => {
    await client.request({ method: "POST", path: resourcePath(resource, { namespace: "default" }), body });
  };
  onTestFinished(async () => {
    stop.abort();
    await client.close();
    await sandbox.close();
  });
  return { observer, clock, stop, create };
}

describe("an observer of a namespace", () => {
  it("resolves when the probe finds a result", async () => {
    const { observer, create } = await observed();
    const pod = observer.until("a Pod", () => observer.pods.keys().next().value);
    await create(resources.configMaps, page);
    await create(resources.deployments, web);
    expect(await pod).toMatch(/^web-/);
    expect(hashOf(observer, "web")).toBeUndefined();
  });

  it("rejects with what it waited for when the time limit of a step is over, and not before", async () => {
    const { observer, clock } = await observed();
    const outcome = observer.until("another hash", () => undefined).catch((error: unknown) => error);
    await clock.advance(9999);
    expect(await Promise.race([outcome, "still waiting"])).toBe("still waiting");
    await clock.advance(1);
    expect(await outcome).toEqual(new Error("waited 10 s for another hash"));
  });

  it("stops to wait when its signal aborts", async () => {
    const { observer, stop } = await observed();
    const outcome = observer.until("another hash", () => undefined).catch((error: unknown) => error);
    const reason = new Error("not wanted");
    stop.abort(reason);
    expect(await outcome).toBe(reason);
    expect(await observer.until("anything", () => 1).catch((error: unknown) => error)).toBe(reason);
  });
});
