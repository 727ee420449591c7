import { afterEach, describe, expect, it } from "vitest";
import { defaultPolicy, workload as fixture } from "../../../test/support/domain/objects.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { workloadKey } from "../../domain/model/workload.ts";
import type { HoldReason } from "../../domain/outcomes/hold.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import { soleLeadership } from "../../runtime/leadership.ts";
import { TokenBucket } from "../../runtime/token-bucket.ts";
import { WritePermits } from "../../runtime/write-permits.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import type { EndedRun } from "../observers/run-observer.ts";
import { createHeldStates } from "./controller.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A leading controller, a workload in its cache, and the values that it writes into the annotation. */
function scene(state?: string) {
  const clock = new FakeClock();
  const base = fixture();
  const key = workloadKey(base);
  let stored = { ...base, state };
  const written: unknown[] = [];
  const patches: unknown[] = [];
  const client = {
    request: async <T>({ body, query }: ApiRequest): Promise<T> => {
      expect(query).toEqual({ fieldManager: "wave-annotations" });
      if (Array.isArray(body)) {
        patches.push(body);
        return {} as T;
      }
      const { annotations } = (body as { metadata: { annotations: Record<string, string | null> } }).metadata;
      expect(Object.keys(annotations)).toEqual(["wave.pusher.com/state"]);
      const value = annotations["wave.pusher.com/state"];
      written.push(value);
      stored = { ...stored, state: value ?? undefined };
      return {} as T;
    },
  };
  const states = createHeldStates({
    client,
    caches: { workload: () => stored },
    policy: defaultPolicy,
    clock,
    log: silentLogger,
    random: () => 0,
  });
  if (states === undefined) throw new Error("no controller");
  const stop = new AbortController();
  const tokens = new TokenBucket({ clock, perSecond: 20, burst: 100 });
  const permits = new WritePermits({ clock, tokens, leadership: soleLeadership(stop.signal) });
  const done = states.run(soleLeadership(stop.signal), permits);
  ends.push(async () => {
    stop.abort();
    await done;
  });
  const observe = (plan: unknown) =>
    states.observe(key, { workload: stored, plan, changes: undefined, caughtUp: true } as EndedRun);
  const held = (reason: HoldReason) => observe({ outcome: "held", due: { outcome: "roll" }, hold: { reason } });
  const passed = (previousPins: string | undefined) => observe({ outcome: "current", previousPins });
  return {
    clock,
    written,
    patches,
    passed,
    held,
    current: () => observe({ outcome: "current" }),
    rolled: () => observe("rolled"),
  };
}

it("records the previous pins of a rollout that has passed, once, and only if the workload has not changed", async () => {
  const { clock, patches, passed, rolled, current } = scene();
  passed("hash page=page-0000000002");
  await clock.advance(1_000);
  current();
  await clock.advance(120_000);
  expect(patches).toEqual([
    [
      { op: "test", path: "/metadata/uid", value: expect.any(String) },
      { op: "test", path: "/metadata/generation", value: expect.any(Number) },
      { op: "add", path: "/metadata/annotations/wave.pusher.com~1previous-pins", value: "hash page=page-0000000002" },
    ],
  ]);
  passed(undefined);
  rolled();
  await clock.advance(120_000);
  expect(patches).toHaveLength(1);
});

describe("the state of a held workload", () => {
  it("is written once after 30 seconds, and removed when the rollout is not held any more", async () => {
    const { clock, written, held, rolled, current } = scene();
    held("approval");
    await clock.advance(29_000);
    held("window");
    expect(written).toEqual([]);
    await clock.advance(2_000);
    expect(written).toEqual(["held"]);
    for (let minute = 0; minute < 10; minute++) {
      held("hold");
      await clock.advance(60_000);
    }
    expect(written).toEqual(["held"]);
    rolled();
    await clock.advance(1_000);
    current();
    await clock.advance(120_000);
    expect(written).toEqual(["held", null]);
  });

  it("is not written for a short hold, or one that ends by itself or is for the whole cluster", async () => {
    const { clock, written, held, current } = scene();
    held("hold");
    await clock.advance(20_000);
    current();
    for (const reason of ["settling", "interval", "progressing", "batch", "observed", "clusterHold"] as const) {
      held(reason);
      await clock.advance(300_000);
    }
    expect(written).toEqual([]);
  });

  it("changes when the rollout is halted", async () => {
    const { clock, written, held } = scene();
    held("hold");
    await clock.advance(40_000);
    held("halted");
    await clock.advance(40_000);
    expect(written).toEqual(["held", "halted"]);
  });

  it("is removed by the next leader if the hold has ended", async () => {
    const { clock, written, current } = scene("held");
    current();
    await clock.advance(1_000);
    expect(written).toEqual([null]);
  });
});
