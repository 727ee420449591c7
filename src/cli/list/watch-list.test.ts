import { describe, expect, it } from "vitest";
import { listRow as row } from "../../../test/support/cli/list-row.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { type ListedWorkload, type ListRow, ListTable } from "./list-output.ts";
import { type Reading, watchList } from "./live-list.ts";

/** A watch over readings of a test. */
function watching(read: () => Promise<Reading | undefined>, state?: ListedWorkload["state"]) {
  const clock = new FakeClock();
  const ended = new AbortController();
  const printed: string[][] = [];
  const table = new ListTable({ clusters: false, namespaces: false, wide: false, paint: (_style, text) => text });
  const watch = watchList({
    ...{ read, table, clock, signal: ended.signal },
    isWanted: (each) => state === undefined || each.state === state,
    write: (text) => void printed.push(text.trimEnd().split("\n")),
  });
  const end = async () => {
    ended.abort(new Error("ended"));
    await expect(watch).rejects.toThrow("ended");
  };
  /** Returns what was printed since the last call, without repeated blanks. */
  const news = () => printed.splice(0).map((lines) => lines.map((line) => line.replace(/ +/g, " ")));
  return { clock, news, printed, end };
}

/** A reading of a whole cluster. */
const whole = (...rows: readonly ListRow[]): Reading => ({ rows, changes: [], isWhole: () => true });

const heading = "NAME STATE UP-TO-DATE READY REASON SINCE";

describe("a watched list", () => {
  it("prints the table, then only rows that changed, and no row for its age", async () => {
    let reading = whole(row("api", "current", { since: "2026-01-01T00:00:00Z" }), row("web", "due"));
    const { clock, news, end } = watching(async () => reading);
    await clock.advance(0);
    expect(news()).toEqual([[heading, "deployment/api current - - - 0s", "deployment/web due - - - -"]]);
    await clock.advance(60_000);
    expect(news()).toEqual([]);
    reading = whole(row("api", "current"), row("web", "held", { because: "hold" }));
    await clock.advance(2_000);
    expect(news()).toEqual([["deployment/web held - - hold -"]]);
    await end();
  });

  it("prints a removed workload once, and again if it comes back", async () => {
    let reading = whole(row("api", "current"));
    const { clock, news, end } = watching(async () => reading);
    await clock.advance(0);
    news();
    reading = whole();
    await clock.advance(10_000);
    expect(news()).toEqual([["deployment/api removed - - - -"]]);
    reading = whole(row("api", "due"));
    await clock.advance(10_000);
    expect(news()).toEqual([["deployment/api due - - - -"]]);
    await end();
  });

  it("keeps the rows of a cluster that could not be read, or only in part", async () => {
    let reading: Reading | undefined = whole(row("api", "current"));
    const { clock, news, end } = watching(async () => reading);
    await clock.advance(0);
    news();
    for (const failed of [undefined, { rows: [], changes: [], isWhole: () => false }]) {
      reading = failed;
      await clock.advance(10_000);
    }
    reading = whole(row("api", "current"));
    await clock.advance(10_000);
    expect(news()).toEqual([]);
    await end();
  });

  it("prints a workload that leaves the wanted state once, and the heading with the first row", async () => {
    let reading = whole(row("api", "current"));
    const { clock, news, end } = watching(async () => reading, "held");
    await clock.advance(0);
    expect(news()).toEqual([]);
    reading = whole(row("api", "held"));
    await clock.advance(2_000);
    reading = whole(row("api", "current"));
    await clock.advance(10_000);
    expect(news()).toEqual([[heading, "deployment/api held - - - -"], ["deployment/api current - - - -"]]);
    await end();
  });

  it("keeps the columns of the table in later rows", async () => {
    let reading = whole(row("a-long-name", "current"), row("b", "due"));
    const { clock, printed, end } = watching(async () => reading);
    await clock.advance(0);
    reading = whole(row("a-long-name", "current"), row("b", "held"));
    await clock.advance(2_000);
    const [first, later] = printed;
    expect(later?.[0]?.indexOf("held")).toBe(first?.[0]?.indexOf("STATE"));
    await end();
  });

  it("reads at most every two seconds, and less often if a reading takes long", async () => {
    let readings = 0;
    let readingMs = 0;
    const { clock, end } = watching(async () => {
      readings++;
      if (readingMs > 0) await new Promise<void>((resolve) => void clock.timer(readingMs, resolve));
      return whole();
    });
    await clock.advance(20_000);
    expect(readings).toBe(11);
    readingMs = 3_000;
    await clock.advance(2_000 + 10 * 15_000);
    expect(readings).toBe(22);
    await clock.advance(3_000);
    await end();
  });

  it("ends with the error of a reading", async () => {
    const watch = watchList({
      read: () => Promise.reject(new Error("forbidden")),
      isWanted: () => true,
      table: new ListTable({ clusters: false, namespaces: false, wide: false, paint: (_style, text) => text }),
      write: () => {},
      clock: new FakeClock(),
    });
    await expect(watch).rejects.toThrow("forbidden");
  });
});
