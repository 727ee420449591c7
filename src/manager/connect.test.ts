import { describe, expect, it } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { ApiError, ConnectionError } from "../kube/api/api-failure.ts";
import { createLogger } from "../telemetry/logging/log.ts";
import { createConnection } from "./connect.ts";

/** A connection to a server that gives these answers in turn, the last one for ever. */
function connectionTo(...answers: (Error | { gitVersion: string })[]) {
  const clock = new FakeClock();
  const lines: string[] = [];
  const log = createLogger({ format: "json", level: "info", clock, write: (line) => lines.push(JSON.parse(line).msg) });
  let asked = 0;
  const client = {
    request: async <T>(): Promise<T> => {
      const answer = answers[Math.min(asked++, answers.length - 1)];
      if (answer instanceof Error) throw answer;
      return answer as T;
    },
  };
  const connection = createConnection("https://api:6443", client, { clock, log, random: () => 1 });
  return { clock, lines, connection, asked: () => asked };
}

const refused = new ConnectionError("get /version", { cause: new Error("connect ECONNREFUSED 10.0.0.1:6443") });
const failure = (status: number, reason: string) =>
  new ApiError({ request: "get /version", status, reason, serverMessage: "no" });

describe("the first connection to the API server", () => {
  it("retries until the server answers, and logs the failure once", async () => {
    const { clock, lines, connection } = connectionTo(refused, refused, refused, { gitVersion: "v1.36.0" });
    const established = connection.establish(new AbortController().signal);
    expect(connection.problem()).toMatch(/has not answered yet/);
    await clock.advance(100);
    const problem = "cannot reach the API server https://api:6443: get /version: connect ECONNREFUSED 10.0.0.1:6443";
    expect(connection.problem()).toBe(problem);
    await clock.advance(10_000);
    expect(await established).toBe("v1.36.0");
    expect(connection.problem()).toBeUndefined();
    expect(lines).toEqual([`${problem}; retrying`]);
  });

  it("logs a new failure at once, and the same one again within 25 s but not at each attempt", async () => {
    const { clock, lines, connection } = connectionTo(
      refused,
      failure(503, "ServiceUnavailable"),
      failure(401, "Unauthorized"),
    );
    const stop = new AbortController();
    const established = connection.establish(stop.signal);
    await clock.advance(3_500);
    expect(lines.map((line) => line.split(": ")[0])).toEqual([
      "cannot reach the API server https://api:6443",
      "the API server https://api:6443 responds with an error",
      "the API server https://api:6443 does not accept the credentials",
    ]);
    // Asked after 3.5, 7.5, 15.5 and 25.5 s.
    await clock.advance(25_000);
    expect(lines).toHaveLength(6);
    stop.abort(new Error("stopped"));
    await expect(established).rejects.toThrow("stopped");
  });

  it("retries with a growing delay of at most 10 s", async () => {
    const { clock, connection, asked } = connectionTo(refused);
    const stop = new AbortController();
    connection.establish(stop.signal).catch(() => {});
    await clock.advance(15_500);
    expect(asked()).toBe(6); // at 0, 0.5, 1.5, 3.5, 7.5, 15.5 s
    await clock.advance(100_000);
    expect(asked()).toBe(16);
    stop.abort();
  });

  it("is established if the user may not read the version", async () => {
    const { connection, lines } = connectionTo(failure(403, "Forbidden"));
    expect(await connection.establish(new AbortController().signal)).toBeUndefined();
    expect(connection.problem()).toBeUndefined();
    expect(lines).toEqual([]);
  });
});
