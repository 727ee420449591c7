import { describe, expect, it } from "vitest";
import type { TimelineEntry } from "../../../src/cli/ui/model.ts";
import { layOutTimeline, mostDrawn } from "./timeline-layout.ts";

const entry = (fields: Partial<TimelineEntry>): TimelineEntry => ({
  at: 0,
  endedAt: null,
  cluster: "east",
  namespace: "shop",
  type: "edit",
  about: "configmap/web",
  details: [],
  by: null,
  result: null,
  text: "",
  ...fields,
});
const span = { from: 0, to: 1000 };
const rollout = (fields: Partial<TimelineEntry>) =>
  entry({ type: "rollout", about: "deployment/web", details: ["configmap/web (color)"], ...fields });

describe("the timeline", () => {
  it("joins a rollout with the last edit of its object before it, in its namespace", () => {
    const { lanes } = layOutTimeline(
      [
        entry({ at: 100 }),
        entry({ at: 200 }),
        entry({ at: 250, about: "configmap/other" }),
        entry({ at: 260, namespace: "other" }),
        rollout({ at: 300, endedAt: 400 }),
        entry({ at: 350 }),
      ],
      span,
      1000,
    );
    expect(lanes.map(({ namespace }) => namespace)).toEqual(["other", "shop"]);
    expect(lanes[1]?.lines.map(({ from, to }) => [from.x, to.x])).toEqual([[200, 300]]);
  });

  it("draws a bar until its end, and until the end of the picture while it lasts", () => {
    const { lanes } = layOutTimeline(
      [rollout({ at: 100, endedAt: 300 }), rollout({ at: 600 }), entry({ type: "hold", at: -500 })],
      span,
      500,
    );
    expect(lanes[0]?.drawn.map(({ x, width }) => [x, width])).toEqual([
      [50, 100],
      [300, 200],
      [0, 500],
    ]);
  });

  it("puts rollouts at the same time into rows of their own, and rows end", () => {
    const at = Array.from({ length: 50 }, (_, index) =>
      rollout({ at: 100, endedAt: 200, about: `deployment/${index}` }),
    );
    const { lanes, height } = layOutTimeline(at, span, 1000);
    expect(new Set(lanes[0]?.drawn.map(({ y }) => y)).size).toBe(8);
    expect(height).toBeLessThan(300);
  });

  it("leaves out what is outside of its time, and the oldest entries of very many", () => {
    expect(layOutTimeline([entry({ at: -1 }), entry({ at: 1001 })], span, 1000).lanes).toEqual([]);
    const many = Array.from({ length: mostDrawn + 10 }, (_, index) => entry({ at: index / 10 }));
    const drawn = layOutTimeline(many, span, 1000).lanes[0]?.drawn ?? [];
    expect(drawn).toHaveLength(mostDrawn);
    expect(drawn.at(-1)?.entry.at).toBe(many.at(-1)?.at);
  });

  it("has labels that end before the next entry, the last one before its entry", () => {
    const long = "configmap/with-a-long-name";
    const edits = [entry({ at: 30, about: long }), entry({ at: 60, about: long }), entry({ at: 990, about: long })];
    const drawn = layOutTimeline(edits, span, 1000).lanes[0]?.drawn ?? [];
    expect(drawn.map(({ label }) => label)).toEqual(["", long, long]);
    expect(drawn.map(({ isBefore }) => isBefore)).toEqual([false, false, true]);
  });
});
