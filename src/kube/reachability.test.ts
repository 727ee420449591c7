import { expect, it } from "vitest";
import { FakeClock } from "../lib/fake-clock.ts";
import { createLogger } from "../telemetry/log.ts";
import { MetricsRegistry } from "../telemetry/metrics.ts";
import { ApiError, ConnectionError } from "./errors.ts";
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
  const reachability = createReachability({ server, clock, log, metrics });
  const shown = () => Number(/^wave_api_server_reachable (\d)$/m.exec(metrics.render())?.[1]);
  /** As eight watches and an elector ask in vain. */
  const fail = async (ms: number, error: Error = refused) => {
    for (let passed = 0; passed < ms; passed += 500) {
      reachability.failed(error);
      await clock.advance(500);
    }
  };
  return { reachability, clock, lines, shown, fail };
}

it("says that the server does not answer more than once in 25 s, however many ask it, and once that it answers again", async () => {
  const { reachability, lines, shown, fail } = start();
  reachability.answered();
  await fail(25_000);
  expect([reachability.unreachable(), shown()]).toEqual([true, 0]);
  const line = (seconds: number) =>
    `ERROR the API server does not answer: nothing is rolled until it does server=https://api:6443 forSeconds=${seconds} error="watch secrets: connect ECONNREFUSED 10.0.0.1:6443"`;
  expect(lines).toEqual([line(3), line(13), line(23)]);
  reachability.answered();
  expect([reachability.unreachable(), shown()]).toEqual([false, 1]);
  expect(lines.slice(3)).toEqual(["INFO  the API server answers again server=https://api:6443 afterSeconds=25"]);
});

it("says nothing of a connection that broke and was made again", async () => {
  const { reachability, lines, shown, fail } = start();
  reachability.answered();
  await fail(2_500);
  reachability.answered();
  await fail(2_500);
  reachability.answered();
  expect([lines, shown()]).toEqual([[], 1]);
});

it("takes a refusal for an answer, but not that of a proxy in front of a server that is gone", async () => {
  const { reachability, fail } = start();
  reachability.failed(failure(403, "Forbidden"));
  reachability.failed(refused);
  expect(reachability.unreachable()).toBe(true);
  reachability.failed(failure(503, "ServiceUnavailable"));
  expect(reachability.unreachable()).toBe(false);
  await fail(1_000, failure(502, ""));
  expect(reachability.unreachable()).toBe(true);
});

it("leaves a server that has never answered to its first contact, and shows it as not reachable", async () => {
  const { lines, shown, fail } = start();
  await fail(60_000);
  expect([lines, shown()]).toEqual([[], 0]);
});

it("takes nothing of what a caller gave up for silence", async () => {
  const { reachability, shown, fail } = start();
  reachability.answered();
  await fail(5_000, new Error("stopped"));
  expect(shown()).toBe(1);
});
