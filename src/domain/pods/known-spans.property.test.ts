import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ObservedPod } from "./observed-pod.ts";
import { configStateOf, readMargins } from "./pod-state.ts";
import {
  annotationFor,
  type KnownSpans,
  maxEarlierHashes,
  noteAfterMs,
  observeConfig,
  recordedSpans,
} from "./spans.ts";

const second = 1_000;
const start = Date.parse("2026-01-01T00:00:00Z");

/** What happens after some seconds: an edit to one of three contents, a start of a container, or a restart of Wave. */
type Step = { readonly afterS: number } & (
  | { readonly what: "edit"; readonly content: number }
  | { readonly what: "start" }
  | { readonly what: "newLeader" }
);

const afterS = fc.integer({ min: 1, max: 90 });
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({ what: fc.constant("edit" as const), afterS, content: fc.integer({ min: 0, max: 2 }) }),
    fc.record({ what: fc.constant("start" as const), afterS }),
  ),
  { maxLength: 30 },
);
const withRestarts = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ what: fc.constant("edit" as const), afterS, content: fc.integer({ min: 0, max: 2 }) }),
    },
    { weight: 4, arbitrary: fc.record({ what: fc.constant("start" as const), afterS }) },
    { weight: 1, arbitrary: fc.record({ what: fc.constant("newLeader" as const), afterS }) },
  ),
  { maxLength: 30 },
);

interface Started {
  readonly at: number;
  readonly read: number;
}

/** Plays steps while the workload is held with content 0, then takes all edits back. `seenLateMs`: how late Wave sees an edit. */
function play(all: readonly Step[], seenLateMs = 0) {
  let [now, content, changedAt] = [start, 0, start];
  let known: KnownSpans | undefined;
  let annotation: string | undefined;
  const started: Started[] = [];
  const changes: number[] = [];
  const observe = (at: number) => {
    const seen = {
      uid: "1",
      hash: "v2:0",
      differs: content !== 0,
      mayBeEdited: true,
      liveHash: `v2:${content}`,
      changedFrom: Math.min(at, Math.floor(changedAt / second) * second),
      changedTo: at,
      certain: true,
      complete: true,
      annotation,
      now: at,
    };
    known = observeConfig(known, seen);
    annotation = annotationFor(known, annotation, false, at);
  };
  const step = (each: Step) => {
    const from = now;
    now += each.afterS * second;
    // Wave writes a note when a span has lasted long enough.
    if (now - from > noteAfterMs) annotation = annotationFor(known, annotation, false, now);
    if (each.what === "start") started.push({ at: now, read: content });
    if (each.what === "newLeader") {
      known = undefined;
      observe(now);
    }
    if (each.what === "edit" && each.content !== content) {
      content = each.content;
      changedAt = now;
      changes.push(now);
      observe(now + seenLateMs);
    }
  };
  for (const each of all) step(each);
  step({ what: "edit", content: 0, afterS: 60 });
  const stateOf = ({ at }: Started) => {
    const pod: ObservedPod = {
      name: "web",
      uid: "1",
      hash: "v2:0",
      createdAt: start,
      volumesAt: start,
      ending: false,
      ready: true,
      notReadyReason: undefined,
      start: { state: "started" },
      exit: undefined,
      restarts: { container: "", count: 0 },
      liveObjects: [undefined],
      reads: [{ by: "env", at, object: undefined }],
    };
    const spans = known === undefined ? [] : recordedSpans(known);
    return configStateOf(pod, { hash: "v2:0", spans, changedAt: undefined, rolledAt: 0 });
  };
  return { started, changes, stateOf, known };
}

describe("After all edits were reverted", () => {
  it("each Pod that has read another configuration is mixed, also if the watch is behind", () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 0, max: 900 }), (all, lateMs) => {
        const { started, stateOf } = play(all, lateMs);
        for (const each of started.filter(({ read }) => read !== 0)) expect(stateOf(each)).toBe("mixed");
      }),
    );
  });

  it("a Pod that started longer than the margin from each edit, and has read the recorded configuration, is current", () => {
    fc.assert(
      fc.property(steps, (all) => {
        const { started, changes, stateOf, known } = play(all);
        const spans = known === undefined ? 0 : recordedSpans(known).length;
        // Above eight spans, the closest are merged.
        if (spans >= 8) return;
        const isApart = ({ at }: Started) =>
          changes.every((change) => Math.abs(at - change) > readMargins.clocksMs + second);
        for (const each of started.filter((one) => one.read === 0 && isApart(one)))
          expect(stateOf(each)).toBe("current");
      }),
    );
  });

  it("nothing is remembered if nothing was edited", () => {
    const { known, started, stateOf } = play([{ what: "start", afterS: 5 }]);
    expect(known).toBeUndefined();
    expect(stateOf(started[0] as Started)).toBe("current");
  });

  it("a new leader forgets only what lasted less than 30 seconds", () => {
    fc.assert(
      fc.property(withRestarts, (all) => {
        // Each difference lasts long, because no edit follows another one soon.
        const slow = all.map((each) => ({ ...each, afterS: each.afterS + 35 }));
        const { started, stateOf } = play(slow);
        for (const each of started.filter(({ read }) => read !== 0)) expect(stateOf(each)).toBe("mixed");
      }),
    );
  });
});

describe("The memory of a workload", () => {
  const seen = {
    uid: "1",
    hash: "a",
    mayBeEdited: true,
    liveHash: "a",
    certain: true,
    complete: false,
    annotation: undefined,
  };
  const at = (ms: number) => ({ changedFrom: start + ms, changedTo: start + ms, now: start + ms });

  it("keeps the spans of an earlier hash until the rollout is complete, so that Pods of a rollback are checked", () => {
    const held = observeConfig(undefined, { ...seen, ...at(0), differs: true, liveHash: "b" });
    const rolled = observeConfig(held, { ...seen, ...at(1_000), hash: "b", differs: false, liveHash: "b" });
    const takenBack = observeConfig(rolled, { ...seen, ...at(60_000), hash: "b", differs: true, liveHash: "a" });
    const back = observeConfig(takenBack, { ...seen, ...at(70_000), differs: false });
    expect(back && recordedSpans(back)).toEqual([{ from: start, to: start + 60_000 }]);
    const complete = observeConfig(rolled, {
      ...seen,
      ...at(60_000),
      hash: "b",
      differs: false,
      liveHash: "b",
      complete: true,
    });
    expect(complete).toBeUndefined();
  });

  it("has the spans of the latest earlier hashes, however often a workload is rolled that never completes", () => {
    let known: KnownSpans | undefined;
    for (let rollout = 0; rollout < 100; rollout++) {
      const of = { ...seen, ...at(rollout * 60_000), hash: `${rollout}` };
      known = observeConfig(known, { ...of, differs: false, liveHash: `${rollout}` });
      known = observeConfig(known, { ...of, differs: true, liveHash: `${rollout + 1}` });
    }
    const latest = Array.from({ length: maxEarlierHashes }, (_, index) => `${98 - index}`);
    expect([...(known?.spans.keys() ?? [])]).toEqual([...latest, "99"]);
  });

  it("has no span while only the references of the workload differ, and one since an object changed, too", () => {
    const named = { ...seen, ...at(0), differs: true, liveHash: undefined, mayBeEdited: false };
    expect(observeConfig(undefined, named)).toBeUndefined();
    const edited = observeConfig(undefined, { ...named, ...at(5_000), mayBeEdited: true });
    const still = observeConfig(edited, { ...named, ...at(9_000) });
    const after = observeConfig(still, { ...seen, ...at(10_000), differs: false });
    expect(after && recordedSpans(after)).toEqual([{ from: start + 5_000, to: start + 10_000 }]);
  });

  it("drops a difference that a cache behind has shown, and keeps one that lasts", () => {
    const uncertain = observeConfig(undefined, { ...seen, ...at(0), differs: true, liveHash: "b", certain: false });
    expect(annotationFor(uncertain, undefined, true, start + 1_000)).toBeUndefined();
    expect(observeConfig(uncertain, { ...seen, ...at(2_000), differs: false })).toBeUndefined();
    const lasting = observeConfig(uncertain, { ...seen, ...at(40_000), differs: true, liveHash: "b", certain: false });
    const after = observeConfig(lasting, { ...seen, ...at(50_000), differs: false });
    expect(after && recordedSpans(after)).toEqual([{ from: start, to: start + 50_000 }]);
  });

  it("is noted after 30 seconds, or as soon as a Pod is mixed, and restored after an undo", () => {
    const held = observeConfig(undefined, { ...seen, ...at(0), differs: true, liveHash: "b" });
    const text = "a 2026-01-01T00:00:00Z/";
    expect(annotationFor(held, undefined, false, start + 29_000)).toBeUndefined();
    expect(annotationFor(held, undefined, true, start + 29_000)).toBe(text);
    expect(annotationFor(held, undefined, false, start + 30_000)).toBe(text);
    expect(annotationFor(undefined, text, false, start + 30_000)).toBeUndefined();
  });
});
