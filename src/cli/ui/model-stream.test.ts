import { describe, expect, it } from "vitest";
import type { ClusterHeader, Update } from "./model.ts";
import { ModelStream } from "./model-stream.ts";

/** A stream with a clock that a test moves, and sinks that take as many events as the test allows. */
function scene() {
  const time = { now: 0 };
  const stream = new ModelStream({ wall: () => time.now, monotonic: () => time.now });
  const open = (takes: () => boolean = () => true) => {
    const events: Update[] = [];
    const state = { closed: false };
    const subscription = stream.subscribe({
      send: (event) => {
        events.push(JSON.parse(/^data: (.*)$/m.exec(event.toString())?.[1] ?? ""));
        return takes();
      },
      close: () => {
        state.closed = true;
      },
    });
    return { events, state, subscription };
  };
  const show = (id: string, notes: readonly string[], replaces = false) =>
    stream.publish({ clusters: { rows: [{ id, notes } as ClusterHeader], replaces: () => replaces } });
  return { time, stream, open, show };
}

describe("ModelStream", () => {
  it("sends the whole model first, then only rows that differ, and null for a row that is gone", () => {
    const { stream, open, show } = scene();
    show("a", []);
    const { events } = open();
    show("a", []);
    show("b", []);
    show("b", ["new"], true);
    stream.publish({ clusters: { rows: [], replaces: () => true } });
    expect(events).toMatchObject([
      { type: "model", model: { clusters: { a: { id: "a" } }, workloads: {}, changes: {}, tasks: {} } },
      { type: "difference", rows: { clusters: { b: { notes: [] } } } },
      { type: "difference", rows: { clusters: { a: null, b: { notes: ["new"] } } } },
      { type: "difference", rows: { clusters: { b: null } } },
    ]);
  });

  it("queues nothing for a subscriber that takes nothing, and sends it the whole model when it takes more", () => {
    const { open, show } = scene();
    let takes = false;
    const { events, subscription } = open(() => takes);
    for (let edit = 0; edit < 1_000; edit++) show("a", [String(edit)]);
    expect(events.length).toBe(1);
    takes = true;
    subscription?.onDrain();
    expect(events.at(-1)).toMatchObject({ type: "model", model: { clusters: { a: { notes: ["999"] } } } });
    show("a", ["last"]);
    expect(events.at(-1)).toMatchObject({ type: "difference" });
    expect(events.length).toBe(3);
  });

  it("closes a subscriber that takes nothing for a minute, and shows the others that it lives", () => {
    const { time, stream, open } = scene();
    const stuck = open(() => false);
    const other = open();
    time.now = 59_000;
    stream.beat();
    expect(stuck.state.closed).toBe(false);
    time.now = 60_000;
    stream.beat();
    expect([stuck.state.closed, other.state.closed]).toEqual([true, false]);
    expect(other.events.at(-1)).toEqual({ type: "difference", at: 60_000, rows: {} });
  });
});
