import { describe, expect, it } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { ApiError } from "../../kube/api/api-failure.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import { runCertificateLoop } from "./certificate-loop.ts";

const minute = 60_000;
const day = 24 * 60 * minute;

/** Runs the loop over a source with these results; the last one repeats. `at` has the times of the calls. */
function start(answers: readonly (number | Error)[], changes: readonly AsyncIterable<unknown>[] = []) {
  const clock = new FakeClock();
  const at: number[] = [];
  const states: (string | undefined)[] = [];
  const warnings: string[] = [];
  const log: Logger = {
    debug: () => {},
    info: () => {},
    warn: (message, fields) => void warnings.push(`${message}: ${fields?.error}`),
    error: () => {},
  };
  const source = {
    reconcile: async () => {
      const answer = answers[Math.min(at.length, answers.length - 1)] ?? 0;
      at.push(clock.monotonic());
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  const stop = new AbortController();
  const options = {
    source,
    serve: async () => {},
    changes,
    clock,
    log,
    random: () => 1,
    onState: (p?: string) => void states.push(p),
  };
  const done = runCertificateLoop(options, stop.signal);
  const end = () => {
    stop.abort();
    return done;
  };
  return { clock, at, states, warnings, stop: end };
}

describe("runCertificateLoop", () => {
  it("reconciles when the next call is due and not before, however far away that is", async () => {
    const { clock, at, stop } = start([200 * day]);
    await clock.advance(minute);
    expect(at).toEqual([0]);
    await clock.advance(200 * day - 2 * minute);
    expect(at).toEqual([0]);
    await clock.advance(2 * minute);
    expect(at).toHaveLength(2);
    await stop();
  });

  it("detects within a minute that the wall clock has jumped forward, as after a suspended machine", async () => {
    const { clock, at, stop } = start([10 * day]);
    await clock.advance(minute / 2);
    clock.jumpWall(30 * day);
    await clock.advance(minute);
    expect(at).toEqual([0, minute]);
    await stop();
  });

  it("is not delayed by a wall clock that was set back", async () => {
    const { clock, at, stop } = start([10 * minute]);
    await clock.advance(minute / 2);
    clock.jumpWall(-30 * day);
    await clock.advance(10 * minute);
    expect(at).toEqual([0, 10 * minute]);
    await stop();
  });

  it("reconciles at once after a change, also after one during a reconcile", async () => {
    const queue: (() => void)[] = [];
    async function* changes() {
      for (;;) yield await new Promise<void>((resolve) => queue.push(resolve));
    }
    const { clock, at, stop } = start([day], [changes()]);
    await clock.advance(5000);
    queue.shift()?.();
    await clock.advance(1);
    expect(at).toEqual([0, 5000]);
    const stopped = stop();
    queue.shift()?.();
    await clock.advance(0);
    expect(at).toEqual([0, 5000]);
    void stopped;
  });

  it("logs a failure, retries with a growing delay, and logs the recovery", async () => {
    const failure = new Error("get secrets/ca in wave: 403 Forbidden");
    const { clock, at, states, warnings, stop } = start([failure, failure, failure, day]);
    await clock.advance(10_000);
    expect(at).toEqual([0, 500, 1500, 3500]);
    expect(states).toEqual([failure.message, failure.message, failure.message, undefined]);
    expect(warnings).toEqual([`cannot update the webhook's certificates; retrying: ${failure.message}`]);
    await stop();
  });

  it("retries at once when another replica was first, a limited number of times", async () => {
    const conflict = new ApiError({ request: "r", status: 409, reason: "Conflict", serverMessage: "" });
    const once = start([conflict, day]);
    await once.clock.advance(0);
    expect({ at: once.at, states: once.states }).toEqual({ at: [0, 0], states: [undefined] });
    await once.stop();
    const always = start([conflict]);
    await always.clock.advance(1000);
    expect(always.at.filter((ms) => ms === 0)).toHaveLength(6);
    expect(always.states).toContain("r: 409 Conflict");
    await always.stop();
  });

  it("ends while it waits, and reconciles at most once a second without a change", async () => {
    const { clock, at, stop } = start([0]);
    await clock.advance(3500);
    expect(at).toEqual([0, 1000, 2000, 3000]);
    await stop();
    expect(clock.pending).toBe(0);
  });
});
