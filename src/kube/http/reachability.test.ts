import { expect, it } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { createLogger } from "../../telemetry/logging/log.ts";
import { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { ApiError, ClusterConfigError, ConnectionError } from "../api/api-failure.ts";
import { createReachability } from "./reachability.ts";

const refused = new ConnectionError("watch secrets: connect ECONNREFUSED 10.0.0.1:6443");
const failure = (status: number, reason: string) =>
  new ApiError({ request: "watch secrets", status, reason, serverMessage: "no" });

function start() {
  const clock = new FakeClock();
  const metrics = new MetricsRegistry();
  const lines: string[] = [];
  const log = createLogger({ format: "text", level: "info", clock, write: (line) => lines.push(line.slice(25, -1)) });
  const server = "https://api:6443";
  const reachability = createReachability(server, { clock, log, metrics });
  const shown = () => Number(/^wave_api_server_reachable (\d)$/m.exec(metrics.render())?.[1]);
  return { reachability, clock, lines, shown };
}

it("reports an unresponsive server more than once in 25 s, for any number of requests, and once that it responds again", async () => {
  const { reachability, clock, lines, shown } = start();
  reachability.responded();
  for (let watch = 0; watch < 8; watch++) reachability.failed(refused);
  await clock.advance(25_000);
  expect([reachability.isUnreachable(), shown()]).toEqual([true, 0]);
  const line = (seconds: number) =>
    `ERROR the API server does not respond; until it responds, Wave rolls nothing server=https://api:6443 forSeconds=${seconds} error="watch secrets: connect ECONNREFUSED 10.0.0.1:6443"`;
  expect(lines).toEqual([line(3), line(13), line(23)]);
  reachability.responded();
  expect([reachability.isUnreachable(), shown()]).toEqual([false, 1]);
  await clock.advance(60_000);
  expect(lines.slice(3)).toEqual(["INFO  the API server responds again server=https://api:6443 afterSeconds=25"]);
});

it("does not report a connection that broke and was restored", async () => {
  const { reachability, clock, lines, shown } = start();
  for (let time = 0; time < 5; time++) {
    reachability.responded();
    reachability.failed(refused);
    await clock.advance(2_500);
  }
  reachability.responded();
  await clock.advance(60_000);
  expect([lines, shown()]).toEqual([[], 1]);
});

it("treats a rejection as a response, but not the error of a proxy in front of a stopped server", async () => {
  const { reachability } = start();
  reachability.failed(failure(403, "Forbidden"));
  reachability.failed(refused);
  expect(reachability.isUnreachable()).toBe(true);
  reachability.failed(failure(503, "ServiceUnavailable"));
  expect(reachability.isUnreachable()).toBe(false);
  reachability.failed(failure(502, ""));
  expect(reachability.isUnreachable()).toBe(true);
});

it("does not report a server before its first response, and shows it as unreachable", async () => {
  const { reachability, clock, lines, shown } = start();
  reachability.failed(refused);
  await clock.advance(60_000);
  expect([lines, shown()]).toEqual([[], 0]);
});

it("does not treat a request that the caller aborted as silence", async () => {
  const { reachability, shown } = start();
  reachability.responded();
  reachability.failed(new Error("stopped"));
  expect(shown()).toBe(1);
});

it("reports nothing after it is closed", async () => {
  const { reachability, clock, lines } = start();
  reachability.responded();
  reachability.failed(refused);
  reachability.close();
  await clock.advance(60_000);
  expect(lines).toEqual([]);
});

const unauthorized = failure(401, "Unauthorized");

it.each([
  ["without a response", refused],
  ["with 401", unauthorized],
  ["because a file of the credentials cannot be read", new ClusterConfigError("token file t is empty")],
])("requires a restart if requests have failed for 5 minutes %s, until one succeeds", async (_, error) => {
  const { reachability, clock } = start();
  reachability.accepted();
  reachability.failed(error);
  await clock.advance(299_999);
  reachability.failed(error);
  expect(reachability.problem()).toBeUndefined();
  await clock.advance(1);
  reachability.failed(error);
  expect(reachability.problem()).toBe(`no request to https://api:6443 has succeeded for 300s: ${error.message}`);
  reachability.failed(failure(403, "Forbidden"));
  expect(reachability.problem()).toBeUndefined();
});

it("requires a restart because of 401 also while watches that the server accepted before receive data, but not because of one 401", async () => {
  const { reachability, clock } = start();
  reachability.accepted();
  reachability.failed(unauthorized);
  reachability.responded();
  await clock.advance(300_000);
  expect(reachability.problem()).toBeUndefined();
  reachability.failed(unauthorized);
  reachability.responded();
  expect(reachability.problem()).toMatch(/401 Unauthorized/);
});

it("requires no restart before the first response, because a restart would not help", async () => {
  const { reachability, clock } = start();
  reachability.failed(refused);
  await clock.advance(300_000);
  reachability.failed(refused);
  expect(reachability.problem()).toBeUndefined();
});
