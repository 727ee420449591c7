import { expect, it } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { deliver } from "./delivery.ts";

it("reports an invalid request as failed and does not throw", async () => {
  const request = { url: new URL("http://127.0.0.1:1/"), headers: { "a b": "1" }, body: "{}", ca: undefined };
  const clock = new FakeClock();
  const delivery = await deliver(request, clock, new AbortController().signal);
  expect(delivery).toMatchObject({ result: "failed", why: expect.stringContaining("a b") });
  expect(clock.pending).toBe(0);
});

it("sends nothing when no time is left", async () => {
  const request = { url: new URL("http://127.0.0.1:1/"), headers: {}, body: "{}", ca: undefined };
  const delivery = await deliver(request, new FakeClock(), AbortSignal.abort());
  expect(delivery).toEqual({ result: "retry", why: "no time left", retryAfterMs: undefined });
});
