import { describe, expect, it } from "vitest";
import { defaultPolicy, workload as fixture } from "../../../test/support/domain/objects.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import type { HoldReason, RolloutPlan } from "../../domain/outcomes/outcomes.ts";
import { parseVerdict, verdictOf, writeVerdict } from "../../domain/plan/verdict.ts";
import { ApiError } from "../../kube/api/api-failure.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import { soleLeadership } from "../../runtime/write-permits.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { newFindings } from "./memory/workload-memory.ts";
import { noteState } from "./note-state.ts";

/** A workload whose runs end with the plans of a test, and what they note. Time alone causes a run when the last one asked for it. */
function scene(state?: string) {
  const clock = new FakeClock();
  const findings = newFindings();
  const world = {
    state,
    plan: { outcome: "current" } as unknown,
    permit: true,
    status: undefined as number | undefined,
  };
  const written: unknown[] = [];
  const patches: unknown[] = [];
  const client = {
    request: async <T>({ body, query }: ApiRequest): Promise<T> => {
      expect(query).toEqual({ fieldManager: "wave-annotations" });
      const { status } = world;
      if (Array.isArray(body)) patches.push(body);
      else {
        const { annotations } = (body as { metadata: { annotations: Record<string, string | null> } }).metadata;
        expect(Object.keys(annotations)).toEqual(["wave.pusher.com/state"]);
        const text = annotations["wave.pusher.com/state"];
        const { state, reason } = parseVerdict(text ?? undefined) ?? {};
        written.push(text === null ? null : [state, reason].join(" ").trim());
        if (status === undefined) world.state = text ?? undefined;
      }
      if (status !== undefined) throw new ApiError({ request: "", status, reason: "", serverMessage: "" });
      return {} as T;
    },
  };
  const run = async (plan = world.plan) => {
    world.plan = plan;
    findings.checkAtMonotonic = undefined;
    const workload = { ...fixture(), state: world.state };
    const verdict = verdictOf(plan as RolloutPlan, undefined, false);
    await noteState(workload, plan as RolloutPlan, verdict, undefined, findings, {
      client,
      policy: defaultPolicy,
      clock,
      log: silentLogger,
      leadership: soleLeadership(new AbortController().signal),
      takePermit: () => world.permit,
    });
  };
  const pass = async (ms: number) => {
    const end = clock.monotonic() + ms;
    while (findings.checkAtMonotonic !== undefined && findings.checkAtMonotonic <= end) {
      await clock.advance(Math.max(0, findings.checkAtMonotonic - clock.monotonic()));
      await run();
    }
    await clock.advance(end - clock.monotonic());
  };
  return {
    world,
    written,
    patches,
    pass,
    passed: (previousPins: string) => run({ outcome: "current", previousPins }),
    held: (reason: HoldReason) => run({ outcome: "held", due: { outcome: "roll" }, hold: { reason } }),
    current: () => run({ outcome: "current" }),
  };
}

it("a rollout that has passed records the previous pins once, and only if the workload has not changed", async () => {
  const { patches, passed, pass, current } = scene();
  await passed("hash page=page-0000000002");
  await current();
  await pass(120_000);
  expect(patches).toEqual([
    [
      { op: "test", path: "/metadata/uid", value: expect.any(String) },
      { op: "test", path: "/metadata/generation", value: expect.any(Number) },
      { op: "add", path: "/metadata/annotations/wave.pusher.com~1previous-pins", value: "hash page=page-0000000002" },
    ],
  ]);
});

it("a cache that is behind does not repeat a note at once", async () => {
  const { patches, passed, pass } = scene();
  for (let run = 0; run < 5; run++) await passed("hash page=page-0000000002");
  await pass(29_000);
  expect(patches).toHaveLength(1);
});

describe("the verdict on a workload", () => {
  it("is written once after 30 seconds, and removed when the workload is current", async () => {
    const { written, held, pass, current } = scene();
    await held("approval");
    await pass(29_000);
    expect(written).toEqual([]);
    await pass(2_000);
    expect(written).toEqual(["held approval"]);
    for (let minute = 0; minute < 10; minute++) {
      await held("approval");
      await pass(60_000);
    }
    await current();
    await pass(120_000);
    expect(written).toEqual(["held approval", null]);
  });

  it("is not written for a state that passes, in 100 flaps", async () => {
    const { written, held, pass, current } = scene();
    for (let flap = 0; flap < 100; flap++) {
      await held("hold");
      await pass(20_000);
      await current();
      await pass(5_000);
    }
    expect(written).toEqual([]);
  });

  it("is written once while one wait follows another, and again if another cause lasts", async () => {
    const { written, held, pass } = scene();
    for (const reason of ["settling", "interval", "progressing", "batch", "interval", "batch"] as const) {
      await held(reason);
      await pass(20_000);
    }
    await held("halted");
    await pass(29_000);
    expect(written).toEqual(["held interval"]);
    await pass(2_000);
    expect(written).toEqual(["held interval", "held halted"]);
  });

  it("stays for the next leader, which writes it only if its state differs", async () => {
    const stored = writeVerdict({ state: "held", reason: "hold", since: 0, until: undefined, object: undefined });
    const { written, current, held, pass } = scene(stored);
    await held("hold");
    await pass(120_000);
    expect(written).toEqual([]);
    await current();
    expect(written).toEqual([null]);
  });

  it("replaces or removes the text of another client", async () => {
    const { written, current, held, pass } = scene("held");
    await held("hold");
    await pass(40_000);
    await current();
    await pass(40_000);
    expect(written).toEqual(["held hold", null]);
  });

  it("waits for a permit, and a minute after a failed write", async () => {
    const { written, world, held, pass } = scene();
    await held("hold");
    world.permit = false;
    await pass(60_000);
    expect(written).toEqual([]);
    Object.assign(world, { permit: true, status: 403 });
    await held("hold");
    await pass(59_000);
    expect(written).toEqual(["held hold"]);
    world.status = undefined;
    await pass(1_000);
    expect(written).toEqual(["held hold", "held hold"]);
  });
});
