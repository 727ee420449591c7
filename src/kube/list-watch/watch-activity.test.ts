import { describe, expect, it } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { seriesOf } from "../../../test/support/kube/client.ts";
import { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { createWatchActivity } from "./watch-activity.ts";

describe("the activity of watches", () => {
  it("reports the longest silence of each resource, and names each watch without data for longer than two bookmarks", async () => {
    const clock = new FakeClock();
    const metrics = new MetricsRegistry();
    const { start, silentWatches } = createWatchActivity(clock, metrics);
    const one = start("secrets", "one");
    const two = start("secrets", "two");
    const pods = start("pods", undefined);
    await clock.advance(60_000);
    one.heard();
    pods.heard();
    await clock.advance(31_000);
    expect(seriesOf(metrics, "wave_watch_last_heard_seconds")).toEqual([
      '{resource="secrets"} 91',
      '{resource="pods"} 31',
    ]);
    expect(silentWatches()).toEqual(["no data from the watch of secrets in two for 91 s"]);
    two.heard();
    expect(silentWatches()).toEqual([]);
    expect(seriesOf(metrics, "wave_watch_last_heard_seconds")[0]).toBe('{resource="secrets"} 31');
  });

  it("reports since when the first watch may miss changes, until all have them", async () => {
    const clock = new FakeClock();
    const { start, lostSince } = createWatchActivity(clock, new MetricsRegistry());
    const one = start("secrets", "one");
    await clock.advance(1_000);
    const two = start("secrets", "two");
    one.resumed();
    two.resumed();
    expect(lostSince()).toBe(undefined);
    two.lost();
    await clock.advance(1_000);
    one.lost();
    two.lost();
    expect(lostSince()).toBe(clock.monotonic() - 1_000);
    two.resumed();
    expect(lostSince()).toBe(clock.monotonic());
  });
});
