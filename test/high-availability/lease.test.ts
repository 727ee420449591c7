import { describe, expect, it } from "vitest";
import { startSandbox } from "../../sandbox/sandbox.ts";
import { ApiError } from "../../src/kube/api/api-failure.ts";
import type { ApiClient } from "../../src/kube/http/client.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createLeaderElector } from "../../src/manager/leader-election/leader-election.ts";
import { silentLogger } from "../../src/telemetry/logging/log.ts";
import { MetricsRegistry } from "../../src/telemetry/metrics/metrics.ts";
import type { AnyObject, Cluster } from "../control-plane/cluster.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";

const ns = "leader-election";
const leases = `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`;
/** Durations that are long enough for a busy machine to renew in time. */
const timings = { leaseDurationMs: 10_000, renewDeadlineMs: 8_000, retryPeriodMs: 300 };

type LeaseObject = AnyObject & { readonly spec: Record<string, unknown> };

type Api = Cluster["api"];

/** The responses of the API server for an elector. */
function clientOf(api: Api): Pick<ApiClient, "request"> {
  return {
    request: async <T>({ method, path, body }: Parameters<ApiClient["request"]>[0]): Promise<T> => {
      try {
        return await api<T>(method, path, body);
      } catch (error) {
        const [, status = "0", answer = "{}"] = String(error).match(/: (\d{3}) (.*)$/s) ?? [];
        const { reason = "", message = "" } = JSON.parse(answer) as { reason?: string; message?: string };
        throw new ApiError({ request: `${method} ${path}`, status: Number(status), reason, serverMessage: message });
      }
    },
  };
}

/** Runs two electors on one Lease, which is created, renewed, handed over, deleted and edited. */
async function electorsTakeTurns(api: Api): Promise<void> {
  const read = () => api<LeaseObject>("GET", `${leases}/wave`);
  const stand = (identity: string) => {
    const end = new AbortController();
    const terms: { valid: () => boolean }[] = [];
    const elector = createLeaderElector({
      ...timings,
      client: clientOf(api),
      clock: systemClock,
      log: silentLogger,
      metrics: new MetricsRegistry(),
      namespace: ns,
      name: "wave",
      identity,
    });
    const run = elector.run({
      signal: end.signal,
      lead: async ({ stop, abort, valid }) => {
        terms.push({ valid });
        const over = AbortSignal.any([stop, abort]);
        await new Promise<void>((resolve) => over.addEventListener("abort", () => resolve(), { once: true }));
      },
    });
    const leads = async () => (terms.at(-1)?.valid() ? true : undefined);
    const stop = () => {
      end.abort();
      return run;
    };
    return { terms, leads, stop };
  };

  await api("POST", "/api/v1/namespaces", { metadata: { name: ns } });
  const a = stand("a");
  await until("a to lead", a.leads);
  const first = await read();
  expect(first.spec).toMatchObject({ holderIdentity: "a", leaseDurationSeconds: 10, leaseTransitions: 0 });
  const b = stand("b");
  await until("a to renew", async () => ((await read()).spec.renewTime !== first.spec.renewTime ? true : undefined));
  expect((await read()).spec.acquireTime).toBe(first.spec.acquireTime);
  expect(b.terms).toHaveLength(0);

  await a.stop();
  const released = performance.now();
  await until("b to lead", b.leads);
  // Earlier than the end of the Lease.
  expect(performance.now() - released).toBeLessThan(timings.leaseDurationMs / 2);
  const second = await read();
  expect(second.spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });

  // Deleted: the leader writes the Lease again and continues to lead.
  await api("DELETE", `${leases}/wave`);
  const third = await until("the Lease to be there again", read);
  expect(third.spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
  expect(third.metadata.uid).not.toBe(second.metadata.uid);
  expect(await b.leads()).toBe(true);
  expect(b.terms).toHaveLength(1);

  // Edited by another client: the leader receives a conflict and continues to lead.
  const label = { metadata: { labels: { somebody: "else" } } };
  await api("PATCH", `${leases}/wave`, label, "application/merge-patch+json");
  const { renewTime } = (await read()).spec;
  const renewed = await until("b to renew", async () => {
    const lease = await read();
    return lease.spec.renewTime === renewTime ? undefined : lease;
  });
  expect(renewed).toMatchObject({ metadata: { labels: { somebody: "else" } }, spec: { holderIdentity: "b" } });
  expect(b.terms).toHaveLength(1);
  await b.stop();
  expect(await read()).toMatchObject({ spec: { holderIdentity: "", leaseDurationSeconds: 1 } });
}

const story = "create, renew, hand over and write again the Lease as the server accepts it";

describeOnControlPlane("electors", (cluster) => {
  it(story, () => electorsTakeTurns(cluster.api));
});

describe("on the sandbox, electors", () => {
  it(story, async () => {
    const sandbox = await startSandbox({ controllers: false });
    await electorsTakeTurns(
      async <T>(method: string, path: string, body?: unknown, contentType = "application/json") => {
        const headers = { "content-type": contentType };
        const response = await fetch(sandbox.url + path, { method, headers, body: body ? JSON.stringify(body) : null });
        const text = await response.text();
        if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
        return JSON.parse(text) as T;
      },
    );
    await sandbox.close();
  });
});
