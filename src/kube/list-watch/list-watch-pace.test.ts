import type { RequestListener, ServerResponse } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { clientOf, seriesOf } from "../../../test/support/kube/client.ts";
import { serveHttp } from "../../../test/support/kube/server.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { resources } from "../api/resources.ts";
import { listWatch } from "./list-watch.ts";

const end = (resourceVersion: string) => ({
  type: "BOOKMARK",
  object: { metadata: { resourceVersion, annotations: { "k8s.io/initial-events-end": "true" } } },
});
const expired = { type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired", message: "too old" } };
const lines = (...events: object[]) => events.map((event) => `${JSON.stringify(event)}\n`).join("");

/** How long a watch may be silent: a timer, but no pause. */
const silenceLimitMs = 150_000;

/**
 * The pauses of a list-watch between its first `count` requests to a server, in milliseconds. Its clock lets no time
 * pass: what would be a tight loop shows as requests without pauses between them.
 */
async function pausesBetween(count: number, listener: RequestListener) {
  const pauses: (number | "request")[] = [];
  const stop = new AbortController();
  const server = await serveHttp((request, response) => {
    pauses.push("request");
    if (pauses.filter((each) => each === "request").length === count) stop.abort();
    listener(request, response);
  });
  const { client, metrics } = clientOf(`http://127.0.0.1:${server.port}`);
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  const clock: Clock = {
    ...systemClock,
    monotonic: () => 0,
    timer: (ms, callback) => {
      if (ms === silenceLimitMs) return () => {};
      return systemClock.timer(0, () => {
        pauses.push(ms);
        callback();
      });
    },
  };
  const options = { client, resource: resources.secrets, clock, log: silentLogger, metrics, random: () => 1 };
  const types: string[] = [];
  for await (const { type } of listWatch({ ...options, signal: stop.signal })) types.push(type);
  return { pauses, types, restarts: seriesOf(metrics, "wave_watch_restarts_total") };
}

const status = (code: number, headers: Record<string, string> = {}): RequestListener => {
  return (_, response) => {
    response.writeHead(code, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ kind: "Status", code, reason: "Refused", message: "refused" }));
  };
};

describe("a list-watch waits with growing delays", () => {
  it("if a server immediately forgets the version that it listed, but lists again at once the first time", async () => {
    const { pauses, restarts } = await pausesBetween(5, (_, response) => response.end(lines(end("7"), expired)));
    expect(pauses).toEqual(["request", "request", 800, "request", 1600, "request", 3200, "request"]);
    expect(restarts).toEqual(['{resource="secrets",reason="gone"} 4']);
  });

  it("if a server immediately forgets the version that it listed in pages", async () => {
    const { pauses } = await pausesBetween(9, (request, response) => {
      const query = new URL(request.url ?? "", "http://server").searchParams;
      if (query.has("sendInitialEvents")) return status(422)(request, response);
      response.end(
        query.has("watch") ? lines(expired) : JSON.stringify({ metadata: { resourceVersion: "7" }, items: [] }),
      );
    });
    const refused = ["request"];
    const listAndWatch = ["request", "request"];
    expect(pauses).toEqual([...refused, ...listAndWatch, ...listAndWatch, 800, ...listAndWatch, 1600, ...listAndWatch]);
  });

  it("if a server ends each watch at once, and does not list again", async () => {
    let answers = [lines(end("7"))];
    const { pauses, types } = await pausesBetween(4, (_, response) => {
      response.end(answers[0]);
      answers = [];
    });
    expect(pauses).toEqual(["request", 800, "request", 1_600, "request", 3_200, "request"]);
    expect(types).toEqual(["init", "initDone"]);
  });

  it("if a connection breaks, up to half a minute", async () => {
    const { pauses, restarts } = await pausesBetween(8, (request) => request.socket.destroy());
    const delays = pauses.filter((each) => each !== "request");
    expect(delays.slice(0, 7)).toEqual([800, 1600, 3200, 6400, 12_800, 25_600, 30_000]);
    expect(restarts).toEqual(['{resource="secrets",reason="connection"} 7']);
  });
});

describe("a watch that lived for a second", () => {
  it("is resumed immediately after each end, also if it never had an event", async () => {
    const open: ServerResponse[] = [];
    const pauses: number[] = [];
    let requests = 0;
    const server = await serveHttp((_, response) => {
      requests += 1;
      open.push(response);
      if (requests === 1) response.write(lines(end("7")));
      else response.flushHeaders();
    });
    const { client, metrics } = clientOf(`http://127.0.0.1:${server.port}`);
    onTestFinished(async () => {
      await client.close();
      await server.close();
    });
    let now = 0;
    const stop = new AbortController();
    const clock: Clock = {
      ...systemClock,
      monotonic: () => now,
      timer: (ms, callback) => {
        if (ms === silenceLimitMs || ms === 30_000) return () => {};
        pauses.push(ms);
        return systemClock.timer(0, callback);
      },
    };
    const heard = () => {
      setImmediate(() => {
        now += 2_000;
        if (requests === 8) stop.abort();
        const response = open.shift();
        if (requests % 2 === 0) response?.destroy();
        else response?.end();
      });
    };
    const options = { client, resource: resources.secrets, clock, log: silentLogger, metrics, heard };
    for await (const _ of listWatch({ ...options, signal: stop.signal })) {
      // Only the requests count.
    }
    expect([requests, pauses]).toEqual([8, []]);
  });
});

describe("a list-watch that a server rejects", () => {
  it("waits as long as the server requests, also if the own delay is shorter", async () => {
    const { pauses, restarts } = await pausesBetween(3, status(429, { "retry-after": "7" }));
    expect(pauses).toEqual(["request", 7_000, "request", 7_000, "request"]);
    expect(restarts).toEqual(['{resource="secrets",reason="refused"} 2']);
  });

  it("waits for the own delay if the server requests less", async () => {
    const { pauses } = await pausesBetween(4, status(503, { "retry-after": "1" }));
    expect(pauses).toEqual(["request", 1_000, "request", 1_600, "request", 3_200, "request"]);
  });

  it("waits 5 minutes if the server requests a month, which no timer supports", async () => {
    const { pauses } = await pausesBetween(2, status(429, { "retry-after": "2592000" }));
    expect(pauses).toEqual(["request", 300_000, "request"]);
  });
});
