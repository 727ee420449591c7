import { describe, expect, it } from "vitest";
import { startRunnable } from "./run-assembly.ts";

const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

describe("startRunnable", () => {
  it("runs the part until stop, which waits for its end", async () => {
    const events: string[] = [];
    const part = startRunnable(
      "caches",
      async (signal) => {
        events.push("runs");
        await untilAborted(signal);
        await new Promise((resolve) => setImmediate(resolve));
        events.push("ended");
      },
      () => events.push("failed"),
    );
    await part.stop();
    expect(events).toEqual(["runs", "ended"]);
  });

  it.each([
    { how: "throws", run: () => Promise.reject(new Error("boom")), message: "boom" },
    { how: "just ends", run: () => Promise.resolve(), message: "caches ended unexpectedly" },
  ])("reports the failure once when the part $how, and can still be stopped", async ({ run, message }) => {
    const failures: unknown[] = [];
    const part = startRunnable("caches", run, (error) => failures.push(error));
    await new Promise((resolve) => setImmediate(resolve));
    await part.stop();
    expect(failures).toEqual([new Error(message)]);
  });

  it("reports no failure when the part throws because of stop", async () => {
    const failures: unknown[] = [];
    const part = startRunnable(
      "caches",
      async (signal) => {
        await untilAborted(signal);
        throw signal.reason;
      },
      (error) => failures.push(error),
    );
    await part.stop();
    expect(failures).toEqual([]);
  });
});
