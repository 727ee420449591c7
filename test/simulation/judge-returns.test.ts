import { expect, it } from "vitest";
import { judgeReturns } from "./judge-returns.ts";
import type { BatchSettings, HistoryEntry, Pacing, PlayedReturn, StoredObject } from "./record.ts";

const pacing = { rolloutTimeoutMs: 60_000 } as Pacing;
const settings = { pacing } as BatchSettings;
const namespace = "returns";

function copy(name: string, k: string): StoredObject {
  return { kind: "ConfigMap", metadata: { name, namespace, uid: name, resourceVersion: "1" }, data: { k } };
}

function web(pinned: string): StoredObject {
  const annotations = { "wave.pusher.com/pinned": `page=${pinned}` };
  const metadata = { name: "web", namespace, uid: "web", resourceVersion: "1" };
  return { kind: "Deployment", metadata, spec: { template: { metadata: { annotations } } } };
}

type Write = readonly [at: number, pinned: string, actor?: "wave" | "world"];

/** Judges a round whose bad edit is at 100 s and whose good edit is at 900 s: the workload is rolled to these copies. */
function judged(writes: readonly Write[], round: Partial<PlayedReturn> = {}): readonly string[] {
  const copies = [copy("good-1", "better"), copy("bad-1", "bad"), copy("fixed-1", "fixed")];
  let before = web("good-1");
  const history: HistoryEntry[] = [
    ...copies.map((after, rv) => ({
      at: 1,
      rv,
      type: "ADDED" as const,
      resource: "configmaps",
      by: { actor: "wave" },
      after,
    })),
    { at: 1, rv: 4, type: "ADDED", resource: "deployments", by: { actor: "world" }, after: before },
  ];
  for (const [at, pinned, actor = "wave"] of [...writes, [901_000, "fixed-1"] as const]) {
    const after = web(pinned);
    history.push({
      at,
      rv: history.length + 1,
      type: "MODIFIED",
      resource: "deployments",
      by: { actor },
      before,
      after,
    });
    before = after;
  }
  const none = { decided: undefined, releasedAt: undefined, isValidated: false };
  const played = {
    badAt: 100_000,
    turn: "nothing" as const,
    ...none,
    fixedAt: 900_000,
    fixed: "fixed",
    endAt: 950_000,
  };
  return judgeReturns({ history, settings, lives: [], returned: [{ ...played, ...round }] });
}

const rolled: Write = [101_000, "bad-1"];
const returned: Write = [165_000, "good-1"];
const decided = { at: 103_000, uid: "web" };

it("accepts a rollout that fails and returns once", () => {
  expect(judged([rolled, returned])).toEqual([]);
});

it("finds a rollout that does not return, or returns elsewhere", () => {
  expect(judged([rolled])).toEqual(["returns: web: its rollout at 101000 ms has not returned in time"]);
  expect(judged([rolled, [165_000, "fixed-1"]])).toEqual([
    "returns: web: it returned at 165000 ms to page=fixed-1 and not to page=good-1",
  ]);
});

it("finds a second rollout to content that failed, while it is live", () => {
  const again: readonly Write[] = [
    [200_000, "bad-1"],
    [265_000, "good-1"],
  ];
  expect(judged([rolled, returned, ...again])).toEqual(["returns: web: it was rolled 2 times to content that failed"]);
  expect(judged([rolled, returned, ...again], { turn: "bad edit" })).toEqual([]);
});

it("finds a return although a person or a newer edit decided otherwise, and accepts a rollout to the newer edit", () => {
  for (const turn of ["resume", "halt", "template", "good edit", "hold"] as const) {
    expect(judged([rolled, returned], { turn, decided })).toEqual([
      `returns: web: it returned at 165000 ms although ${turn} decided otherwise`,
    ]);
  }
  expect(judged([rolled, [165_000, "fixed-1"]], { turn: "good edit", decided })).toEqual([]);
  expect(judged([rolled], { turn: "resume", decided })).toEqual([]);
});

it("finds a workload that does not return after its hold ended", () => {
  const hold = { turn: "hold" as const, decided, releasedAt: 300_000 };
  expect(judged([rolled, [301_000, "good-1"]], hold)).toEqual([]);
  expect(judged([rolled], hold)).toEqual(["returns: web: it returned 0 times after its hold ended"]);
});

it("finds a round without a rollout, and a rollout that a validator refused", () => {
  expect(judged([])).toEqual(["returns: no workload was rolled to the edit"]);
  expect(judged([], { isValidated: true })).toEqual([]);
  expect(judged([rolled, returned], { isValidated: true })).toEqual([
    "returns: web: it was rolled although the validator refused the edit",
  ]);
});
