import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { workload } from "../../../../test/support/domain/objects.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import { type Cause, writeCause } from "../../../domain/pacing/cause.ts";
import { type TimelineFacts, timelineOf } from "./timeline.ts";
import type { WaveEvent } from "./wave-events.ts";

const zone = process.env.TZ;
beforeAll(() => {
  process.env.TZ = "Europe/London";
});
afterAll(() => {
  process.env.TZ = zone;
});

const time = (text: string) => Date.parse(`2026-01-${text}Z`);
const hash = (digit: string) => `v2:${digit.repeat(64)}`;
const common = { kind: "ConfigMap", namespace: "shop", name: "common" } as const;
const edited = (at: string, by: string, keys: readonly string[] = ["LOG_LEVEL"]) => ({
  ...common,
  at: time(at),
  by,
  keys,
});

const held: Cause = {
  at: time("31T03:12:07"),
  why: "why",
  edits: [edited("30T18:03:10", "argocd-controller")],
  heldBy: "window",
};
const api: Workload = { ...workload(), name: "api", namespace: "shop", uid: "api", cause: undefined };

const event = (reason: string, at: string, more: Partial<WaveEvent> = {}): WaveEvent => ({
  uid: "api",
  kind: "Deployment",
  namespace: "shop",
  name: "api",
  reason,
  message: "",
  at: time(at),
  lastAt: time(at),
  ...more,
});

const nothing: TimelineFacts = { workloads: [api], revisions: [], events: [], edits: [] };
const revision = (digit: string, cause: Cause) => ({ uid: "api", cause: writeCause(hash(digit), cause) });
const lines = (facts: Partial<TimelineFacts>, since = 0) =>
  timelineOf({ ...nothing, ...facts }, since).map(({ type, about, text }) => `${type} ${about} ${text}`);

describe("a timeline", () => {
  it("joins a rollout with the edit behind it, its hold and its end, also after the hour of its Events", () => {
    const facts = { revisions: [revision("1", held)], events: [event("RolloutComplete", "31T03:12:31")] };
    const rolled =
      "rolled: ConfigMap common (LOG_LEVEL), edited 2026-01-30 18:03:10 by argocd-controller, held by window 9h";
    expect(lines(facts)).toEqual([
      "edit configmap/common edited (LOG_LEVEL) by argocd-controller",
      "hold deployment/api held by window",
      `rollout deployment/api ${rolled}, complete 03:12:31`,
    ]);
    expect(lines({ ...facts, events: [] }).at(-1)).toBe(`rollout deployment/api ${rolled}`);
    expect(timelineOf({ ...nothing, ...facts }, 0).at(-1)).toEqual({
      at: held.at,
      endedAt: time("31T03:12:31"),
      namespace: "shop",
      type: "rollout",
      about: "deployment/api",
      details: ["ConfigMap common (LOG_LEVEL)"],
      by: "argocd-controller",
      result: "complete",
      text: `${rolled}, complete 03:12:31`,
    });
  });

  it("has one entry for a rollout whose cause several revisions keep, and for an edit that several sources show", () => {
    const again = { ...held, at: time("31T04:00:00"), heldBy: undefined };
    const facts = {
      workloads: [{ ...api, cause: writeCause(hash("2"), again) }],
      revisions: [revision("1", held), revision("1", held), revision("2", again)],
      edits: [{ ...common, at: time("30T18:03:10"), by: "argocd-controller" }],
    };
    expect(timelineOf({ ...nothing, ...facts }, 0).map(({ type }) => type)).toEqual([
      "edit",
      "hold",
      "rollout",
      "rollout",
    ]);
  });

  it("ends each rollout with its own Event, and shows why it failed", () => {
    const second = { ...held, at: time("31T04:00:00"), edits: [], heldBy: undefined };
    const message =
      'Rollout failed after 50s: container "web" of Pod "web-7f" restarted 3 times. It started because x. Run: y.';
    const events = [event("RolloutFailed", "31T03:13:00", { message }), event("RolloutResolved", "31T04:00:20")];
    const shown = timelineOf({ ...nothing, revisions: [revision("1", held), revision("2", second)], events }, 0);
    expect(
      shown.filter(({ type }) => type === "rollout").map(({ result, text }) => [result, text.split(", ").at(-1)]),
    ).toEqual([
      ["failed", 'failed 03:13:00: container "web" of Pod "web-7f" restarted 3 times'],
      ["complete", "complete 04:00:20"],
    ]);
  });

  it("shows a rollout that is running, and one whose end is not known", () => {
    const running: Workload = { ...api, progress: { state: "progressing", step: 1, available: 1 } };
    const results = (of: Workload) =>
      timelineOf({ ...nothing, workloads: [{ ...of, cause: writeCause(hash("1"), held) }] }, 0).at(-1)?.result;
    expect(results(running)).toBe("running");
    expect(results({ ...api, progress: { state: "complete", since: undefined } })).toBeNull();
    expect(results({ ...api, progress: { state: "complete", since: time("31T03:12:31") / 1000 } })).toBe("complete");
  });

  it("shows holds until the rollout that follows, halts until they are resolved, and leaders", () => {
    const object = { kind: "ConfigMap", name: "common", uid: "common" };
    const events = [
      event("LeaderElection", "31T01:00:00", { kind: "Lease", name: "wave", uid: "lease", namespace: "wave-system" }),
      event("RolloutHeld", "31T02:00:00", { lastAt: time("31T02:45:00"), message: "Rollout held by a person." }),
      event("RolloutHalted", "31T03:30:00", { ...object, message: "Halted." }),
      event("RolloutResolved", "31T03:40:00", object),
      event("RolloutHalted", "31T05:00:00", { message: "of a workload: its object has one, too" }),
    ];
    expect(
      timelineOf({ ...nothing, revisions: [revision("1", { ...held, edits: [] })], events }, 0).map(
        ({ type, about, endedAt }) => [type, about, endedAt],
      ),
    ).toEqual([
      ["leader", "lease/wave", null],
      ["hold", "deployment/api", held.at],
      ["rollout", "deployment/api", null],
      ["halt", "configmap/common", time("31T03:40:00")],
    ]);
  });

  it("begins at the given time, with what has not ended before", () => {
    const facts = { revisions: [revision("1", held)], events: [event("RolloutComplete", "31T03:12:31")] };
    expect(lines(facts, held.at).map((line) => line.split(" ")[0])).toEqual(["hold", "rollout"]);
    expect(lines(facts, time("31T03:12:20"))).toHaveLength(1);
    expect(lines(facts, time("31T03:12:32"))).toEqual([]);
  });

  it("reads the revisions and Events of ten thousand workloads once", () => {
    const ids = Array.from({ length: 10_000 }, (_, id) => `${id}`);
    const facts = {
      workloads: ids.map((uid) => ({ ...api, uid, name: uid })),
      revisions: ids.flatMap((uid) =>
        ["1", "2", "3"].map((digit) => ({ ...revision(digit, { ...held, at: held.at + Number(digit) * 1_000 }), uid })),
      ),
      events: ids.flatMap((uid) => [
        event("RolloutHeld", "31T02:00:00", { uid }),
        event("RolloutComplete", "31T03:12:31", { uid }),
      ]),
      edits: [],
    };
    expect(timelineOf(facts, 0)).toHaveLength(10_000 * (3 + 3) + 1);
  });
});
