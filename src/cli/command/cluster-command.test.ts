import { expect, it } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { ApiError } from "../../kube/api/api-failure.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { retryingClient } from "./cluster-command.ts";

const busy = (status: number, reason: string, retryAfterMs?: number) =>
  new ApiError({ request: "patch", status, reason, serverMessage: "", retryAfterMs });

/** Sends one request at 0 s to a server that fails with `error` until a time in seconds, and returns the times in seconds at which it was sent. */
async function timesOf(error: ApiError, untilSeconds: number, request: Partial<ApiRequest> = {}) {
  const clock = new FakeClock();
  const times: number[] = [];
  const inner = {
    request: async () => {
      times.push(clock.monotonic() / 1_000);
      if (clock.monotonic() < untilSeconds * 1_000) throw error;
      return "done";
    },
  } as unknown as ApiClient;
  const from = clock.monotonic() / 1_000;
  const client = retryingClient(inner, clock);
  const result = client.request({ method: "PATCH", path: "/", ...request }).catch((thrown: unknown) => thrown);
  await clock.advance(120_000);
  return { times: times.map((each) => each - from), result: await result };
}

it.each<{ error: ApiError; until: number; request?: Partial<ApiRequest>; times: number[]; done: boolean }>([
  { error: busy(429, "TooManyRequests", 5_000), until: 8, times: [0, 5, 10], done: true },
  { error: busy(429, "TooManyRequests"), until: 2, times: [0, 1, 2], done: true },
  { error: busy(503, "ServiceUnavailable", 3_000), until: 4, times: [0, 3, 6], done: true },
  { error: busy(429, "TooManyRequests", 12_000), until: 99, times: [0, 12, 24], done: false },
  { error: busy(429, "TooManyRequests", 31_000), until: 1, times: [0], done: false },
  { error: busy(503, "ServiceUnavailable"), until: 1, times: [0], done: false },
  { error: busy(500, "InternalError", 1_000), until: 1, times: [0], done: false },
  { error: busy(500, "InternalError", 1_000), until: 1, request: { method: "GET" }, times: [0, 1], done: true },
  { error: busy(403, "Forbidden", 1_000), until: 1, times: [0], done: false },
  {
    error: busy(429, "TooManyRequests", 1_000),
    until: 9,
    request: { timeoutMs: 2_500 },
    times: [0, 1, 2],
    done: false,
  },
])("a request that fails with $error.status is sent at $times s", async ({ error, until, request, times, done }) => {
  expect(await timesOf(error, until, request)).toEqual({ times, result: done ? "done" : error });
});

it("all requests of a command retry for 30 s in all", async () => {
  const clock = new FakeClock();
  const error = busy(429, "TooManyRequests", 10_000);
  let sent = 0;
  const refuse = async () => {
    sent++;
    throw error;
  };
  const client = retryingClient({ request: refuse, stream: refuse } as unknown as ApiClient, clock);
  const request = { method: "GET", path: "/" } as const;
  const first = Promise.allSettled([client.request(request), client.stream(request)]);
  await clock.advance(30_000);
  await first;
  expect(sent).toBe(8);
  await expect(client.request(request)).rejects.toBe(error);
  expect(sent).toBe(9);
});
