import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { parseExposition } from "../../test/support/parse-exposition.ts";
import { type Checks, type HttpEndpoint, serveMetrics, serveProbes } from "./http-server.ts";
import { MetricsRegistry } from "./metrics/metrics.ts";
import { counter } from "./metrics/series.ts";

const open: HttpEndpoint[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((endpoint) => endpoint.close()));
});

async function metrics(registry = new MetricsRegistry()): Promise<string> {
  const endpoint = await serveMetrics({ address: "127.0.0.1:0", registry });
  open.push(endpoint);
  return `http://127.0.0.1:${endpoint.port}`;
}

async function probes(ready: Checks, healthy: Checks = {}, registry = new MetricsRegistry()): Promise<string> {
  const endpoint = await serveProbes({ address: "127.0.0.1:0", ready, healthy, registry });
  open.push(endpoint);
  return `http://127.0.0.1:${endpoint.port}`;
}

describe("the metrics endpoint", () => {
  it("serves what the registry holds, with Prometheus' content type", async () => {
    const registry = new MetricsRegistry();
    registry.counter(counter("edits_total", { help: "Edits" })).inc();
    const response = await fetch(`${await metrics(registry)}/metrics`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(parseExposition(await response.text()).get("edits_total")?.samples[0]?.value).toBe(1);
  });

  it("answers HEAD with the same head and no body", async () => {
    const response = await fetch(`${await metrics()}/metrics`, { method: "HEAD" });
    expect(response.status).toBe(200);
    expect(Number(response.headers.get("content-length"))).toBeGreaterThan(0);
    expect(await response.text()).toBe("");
  });

  it.each([
    { path: "/", method: "GET", status: 404 },
    { path: "/metrics/x", method: "GET", status: 404 },
    { path: "/metrics", method: "POST", status: 405 },
  ])("answers $method $path with $status", async ({ path, method, status }) => {
    const response = await fetch((await metrics()) + path, { method });
    expect(response.status).toBe(status);
  });

  it("names in one line the port in use and the flag that set it", async () => {
    const { port } = new URL(await metrics());
    await expect(serveMetrics({ address: `127.0.0.1:${port}`, registry: new MetricsRegistry() })).rejects.toThrow(
      `cannot listen on 127.0.0.1:${port}: the port is in use (--metrics-bind-address)`,
    );
    const registry = new MetricsRegistry();
    await expect(serveProbes({ address: `127.0.0.1:${port}`, ready: {}, healthy: {}, registry })).rejects.toThrow(
      `cannot listen on 127.0.0.1:${port}: the port is in use (--health-probe-bind-address)`,
    );
  });

  it("listens on all addresses if no host is set", async () => {
    const endpoint = await serveMetrics({ address: ":0", registry: new MetricsRegistry() });
    open.push(endpoint);
    const response = await fetch(`http://127.0.0.1:${endpoint.port}/metrics`);
    expect(response.status).toBe(200);
  });

  it("closes immediately, also with an idle connection", async () => {
    const endpoint = await serveMetrics({ address: "127.0.0.1:0", registry: new MetricsRegistry() });
    const socket = connect(endpoint.port, "127.0.0.1");
    await new Promise((resolve) => socket.once("connect", resolve));
    const ended = new Promise((resolve) => socket.once("close", resolve));
    await endpoint.close();
    await ended;
    await expect(fetch(`http://127.0.0.1:${endpoint.port}/metrics`)).rejects.toThrow();
  });
});

describe("strangers with connections that they leave open", () => {
  const connectTo = async (url: string) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => {});
    await new Promise((resolve) => socket.once("connect", resolve));
    return { socket, closed: new Promise((resolve) => socket.once("close", resolve)) };
  };

  it("do not block other clients, and the oldest are closed", async () => {
    const registry = new MetricsRegistry();
    const url = await probes({}, {}, registry);
    const idle = await Promise.all(Array.from({ length: 400 }, () => connectTo(url)));
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    await Promise.all(idle.slice(0, 350).map(({ closed }) => closed));
    expect(registry.render()).toContain('wave_http_connections_dropped_total{server="probes"} 351\n');
    for (const { socket } of idle) socket.destroy();
  });

  it("are rejected if they send more than the head of a request", async () => {
    const { closed, socket } = await connectTo(await probes({}));
    let answer = "";
    socket.on("data", (chunk) => {
      answer += String(chunk);
    });
    socket.write(`GET /readyz HTTP/1.1\r\nhost: a\r\nx: ${"x".repeat(10_000)}\r\n\r\n`);
    await closed;
    expect(answer).toMatch(/^HTTP\/1.1 431 /);
  });
});

describe("the probes", () => {
  it("say ok while every check is well", async () => {
    const url = await probes({ caches: () => undefined });
    for (const path of ["/healthz", "/readyz"]) {
      const response = await fetch(url + path);
      expect([response.status, await response.text()]).toEqual([200, "ok"]);
    }
  });

  it("run at each request, and name the problem", async () => {
    let reason: string | undefined = "not synced yet: secrets";
    const url = await probes({ caches: () => reason, webhook: () => "does not serve" });
    const before = await fetch(`${url}/readyz`);
    expect([before.status, await before.text()]).toEqual([
      503,
      "caches: not synced yet: secrets\nwebhook: does not serve\n",
    ]);
    reason = undefined;
    expect(await (await fetch(`${url}/readyz`)).text()).toBe("webhook: does not serve\n");
  });

  it("list each check with ?verbose", async () => {
    const url = await probes({ caches: () => undefined, webhook: () => "does not serve" }, { leader: () => undefined });
    const ready = await fetch(`${url}/readyz?verbose`);
    expect([ready.status, await ready.text()]).toEqual([
      503,
      "[+]caches ok\n[-]webhook failed: does not serve\nreadyz check failed\n",
    ]);
    const healthy = await fetch(`${url}/healthz?verbose=1`);
    expect([healthy.status, await healthy.text()]).toEqual([200, "[+]leader ok\nhealthz check passed\n"]);
  });

  it("stay ready with notes, and show them", async () => {
    const registry = new MetricsRegistry();
    let notes: readonly string[] = ["no data from the watch of secrets for 91 s"];
    const ready = { caches: () => undefined };
    const endpoint = await serveProbes({ address: "127.0.0.1:0", ready, healthy: {}, registry, notes: () => notes });
    open.push(endpoint);
    const answer = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${endpoint.port}${path}`);
      return [response.status, await response.text()];
    };
    expect(await answer("/readyz")).toEqual([200, "ok\nno data from the watch of secrets for 91 s\n"]);
    expect(await answer("/readyz?verbose")).toEqual([
      200,
      "[+]caches ok\n[!]no data from the watch of secrets for 91 s\nreadyz check passed\n",
    ]);
    expect(await answer("/healthz")).toEqual([200, "ok"]);
    notes = [];
    expect(await answer("/readyz")).toEqual([200, "ok"]);
  });

  it("answer two requests of a connection at a time, and end a connection that does not wait for its responses", async () => {
    let asked = 0;
    const { port } = new URL(await probes({ count: () => void asked++ }));
    const ask = "GET /readyz HTTP/1.1\r\nhost: a\r\n\r\n";
    const impatient = connect({ host: "127.0.0.1", port: Number(port) });
    impatient.resume().on("error", () => {}); // it may be reset
    const ended = new Promise((resolve) => impatient.once("close", resolve));
    impatient.write(ask.repeat(500));
    await ended;
    expect(asked).toBe(2);

    const doctorContext = connect({ host: "127.0.0.1", port: Number(port) });
    for (const _ of [1, 2, 3]) {
      const answer = new Promise((resolve) => doctorContext.once("data", resolve));
      doctorContext.write(ask);
      expect(String(await answer)).toContain("200 OK");
    }
    doctorContext.destroy();
  });

  it("keep readiness and health apart", async () => {
    const url = await probes({ caches: () => "no" }, { leader: () => undefined });
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});
