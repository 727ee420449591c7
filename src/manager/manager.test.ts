import { describe, expect, it } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { withShutdownTimeout } from "./manager.ts";

describe("withShutdownTimeout", () => {
  it("waits for work that ends in time and leaves no timer", async () => {
    const clock = new FakeClock();
    const stop = new AbortController();
    const work = Promise.withResolvers<void>();
    const ended = withShutdownTimeout({ work: work.promise, stop: stop.signal, limitMs: 25_000, clock });
    await clock.advance(1_000_000); // no timeout before stop
    stop.abort();
    await clock.advance(24_000);
    expect(clock.pending).toBe(1);
    work.resolve();
    await ended;
    await clock.advance(0);
    expect(clock.pending).toBe(0);
  });

  it("rejects when the work takes longer than the timeout", async () => {
    const clock = new FakeClock();
    const ended = withShutdownTimeout({
      work: new Promise(() => {}),
      stop: AbortSignal.abort(),
      limitMs: 25_000,
      clock,
    });
    const refused = expect(ended).rejects.toThrow("shutdown took longer than 25s");
    await clock.advance(25_000);
    await refused;
  });

  it("rejects with the error of the work", async () => {
    const work = Promise.reject(new Error("boom"));
    const stop = new AbortController().signal;
    await expect(withShutdownTimeout({ work, stop, limitMs: 1, clock: new FakeClock() })).rejects.toThrow("boom");
  });
});
