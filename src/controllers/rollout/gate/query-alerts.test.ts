import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { systemClock } from "../../../lib/clock.ts";
import { alertQuery, createAlertQuery, maxAlerts, type PrometheusSettings, parseAlerts } from "./query-alerts.ts";

const never = new AbortController().signal;
const json = { "content-type": "application/json" };

/** Returns the answer of Prometheus with one series for each set of labels. */
function answer(...labels: readonly unknown[]): string {
  const result = labels.map((metric) => ({ metric, value: [0, "1"] }));
  return JSON.stringify({ status: "success", data: { resultType: "vector", result } });
}

/** Starts a server, and returns the query against it. */
async function against(
  listener: RequestListener,
  settings: Partial<PrometheusSettings> = {},
  clock: typeof systemClock = systemClock,
) {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`);
  const query = createAlertQuery(
    { url, tokenFile: undefined, caFile: undefined, ...settings },
    { clock, userAgent: "wave" },
  );
  return { query, url };
}

describe("the query for alerts", () => {
  it("sends one fixed query below the path of the URL, with a token that it reads again each time", async () => {
    const folder = mkdtempSync(join(tmpdir(), "wave-gate-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const tokenFile = join(folder, "token");
    writeFileSync(tokenFile, "one\n");
    const seen: unknown[] = [];
    const { query, url } = await against(
      ({ url: path = "", headers }, response) => {
        seen.push([new URL(path, url).searchParams.get("query"), path.split("?")[0], headers.authorization]);
        response.writeHead(200, json).end(answer({ namespace: "shop", alertname: "Slow" }));
      },
      { tokenFile },
    );
    expect(await query(never)).toEqual(new Map([["shop", ["Slow"]]]));
    writeFileSync(tokenFile, "two\n");
    await query(never);
    expect(seen).toEqual([
      [alertQuery, "/base/api/v1/query", "Bearer one"],
      [alertQuery, "/base/api/v1/query", "Bearer two"],
    ]);
  });

  it("rejects a login page, a redirect, an error and other JSON, each with one line and without any part of the answer", async () => {
    const cases: readonly (readonly [RequestListener, string])[] = [
      [(_, response) => response.end("secret"), "no content type instead of JSON: not Prometheus"],
      [
        (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>secret"),
        "text/html instead of JSON: not Prometheus",
      ],
      [
        (_, response) => response.writeHead(302, { location: "http://127.0.0.1:1/secret" }).end(),
        "HTTP 302: redirects are not followed",
      ],
      [(_, response) => response.writeHead(503, json).end('{"error":"secret"}'), "HTTP 503"],
      [(_, response) => response.writeHead(200, json).end("secret"), "not the result of a Prometheus query"],
      [
        (_, response) => response.writeHead(200, json).end('{"status":"success","data":null}'),
        "not the result of a Prometheus query",
      ],
    ];
    for (const [listener, message] of cases) {
      const { query } = await against(listener);
      await expect(query(never)).rejects.toThrow(new Error(message));
    }
  });

  it("ends the connection of an answer without an end after 4 MiB", async () => {
    let sent = 0;
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const { query } = await against((_, response) => {
      response.writeHead(200, json);
      response.once("close", resolve);
      const chunk = Buffer.alloc(2 ** 16, " ");
      const send = () => {
        while (sent < 100 * 2 ** 20 && response.write(chunk)) sent += chunk.length;
      };
      response.on("drain", send);
      send();
    });
    await expect(query(never)).rejects.toThrow("the answer exceeds 4 MiB");
    await closed;
    expect(sent).toBeLessThan(32 * 2 ** 20);
  });

  it("ends after 5 s if the answer arrives byte by byte, or not at all", async () => {
    for (const first of [true, false]) {
      const clock = new FakeClock();
      const { promise: asked, resolve } = Promise.withResolvers<void>();
      const { promise: closed, resolve: close } = Promise.withResolvers<void>();
      const { query } = await against(
        (request, response) => {
          request.once("close", close);
          if (first) response.writeHead(200, json).write("{");
          resolve();
        },
        {},
        clock,
      );
      const result = expect(query(never)).rejects.toThrow("no answer within 5 s");
      await asked;
      await clock.advance(5_000);
      await result;
      await closed;
      expect(clock.pending).toBe(0);
    }
  });

  it("ends when its signal is aborted", async () => {
    const stop = new AbortController();
    const { query } = await against(() => stop.abort(new Error("stopped")));
    await expect(query(stop.signal)).rejects.toThrow("stopped");
  });

  it("names a CA file that is missing or has no certificate", async () => {
    const { query } = await against(() => {}, { caFile: "/missing/ca.crt" });
    await expect(query(never)).rejects.toThrow(/^cannot read CA file \/missing\/ca\.crt: /);
    const other = await against(() => {}, { caFile: import.meta.filename });
    await expect(other.query(never)).rejects.toThrow(/contains no valid certificate in PEM$/);
  });
});

describe("the answer of Prometheus", () => {
  it("gives only names of alerts and namespaces, without control characters", () => {
    const labels = { namespace: "shop", alertname: "Slow\u001b[31m\n", pod: "secret", wave_gate: "secret" };
    expect(parseAlerts(answer(labels))).toEqual(new Map([["shop", ["Slow\\u{1b}[31m\\u{a}"]]]));
  });

  it("is bounded for each namespace and each name", () => {
    const many = Array.from({ length: 10_000 }, (_, index) => ({ namespace: "loud", alertname: `Alert${index}` }));
    const alerts = parseAlerts(answer(...many, { namespace: "quiet", alertname: "x".repeat(10_000) }));
    expect(alerts.get("loud")).toHaveLength(maxAlerts);
    expect(alerts.get("quiet")).toEqual(["x".repeat(200)]);
  });

  it("is left out as far as it names no alert or no possible namespace", () => {
    const odd = [
      undefined,
      null,
      1,
      {},
      { alertname: "A" },
      { namespace: "shop" },
      { namespace: "../etc", alertname: "A" },
    ];
    expect(parseAlerts(answer(...odd, { namespace: "shop", alertname: 1 })).size).toBe(0);
  });
});
