import { beforeEach, describe, expect, it } from "vitest";
import { judge } from "./judge.ts";
import { standsFor } from "./model-search.ts";
import { namedBy } from "./model-workload.ts";
import { configMaps, deployments, hashAnnotation, merge, Play } from "./play.ts";
import type { ReviewEntry } from "./record.ts";

let play: Play;
beforeEach(async () => {
  play = await new Play().begin();
});

describe("the judge accepts", () => {
  it("a first hash, and one write for each edit", async () => {
    await play.roll("A");
    await play.config("B");
    await play.roll("B");
    await play.config("A");
    await play.roll("A");
    expect(await play.judged()).toEqual([]);
  });

  it("a stale cache that never goes back", async () => {
    for (const value of ["B", "C", "A"]) await play.config(value);
    await play.roll("A");
    await play.roll("B");
    await play.roll("C");
    await play.roll("A");
    expect(await play.judged()).toEqual([]);
  });

  it("a change that is reverted before Wave reads it", async () => {
    await play.roll("A");
    await play.config("B");
    await play.config("A");
    expect(await play.judged()).toEqual([]);
  });

  it("an undo, and the current hash after it", async () => {
    await play.roll("A");
    await play.config("B");
    await play.roll("B");
    await play.edit({ spec: { template: { metadata: { annotations: { [hashAnnotation]: play.hash("A") } } } } });
    await play.roll("B");
    expect(await play.judged()).toEqual([]);
  });

  it("a count of an Event that a late request lowers, and that the next Event corrects", async () => {
    await play.roll("A");
    for (const [value, counts] of [
      ["B", [2]],
      ["C", [3, 2]],
      ["D", [4]],
    ] as const) {
      await play.config(value);
      await play.roll(value, { tell: false });
      for (const count of counts) await play.setCount(count);
    }
    expect(await play.judged()).toEqual([]);
  });

  it("a second leader after the first", async () => {
    await play.roll("A");
    await play.lead("b#1");
    await play.config("B");
    await play.roll("B", { replica: "b#1" });
    expect(await play.judged()).toEqual([]);
  });
});

describe("the judge reports", () => {
  it("a write of a process that does not lead", async () => {
    await play.roll("A");
    await play.lead("b#1");
    await play.config("B");
    await play.roll("B");
    expect(await play.judged()).toEqual([expect.stringMatching(/^term: a#1 .* while b#1 held the Lease$/)]);
  });

  it("a harmless write of a process that does not lead", async () => {
    await play.lead("b#1");
    await play.stage.clock.advance(30_000);
    const sent = [{ at: play.stage.clock.monotonic(), replica: "a#1", what: "PATCH /x", unanswered: false }];
    expect(judge({ ...play.recording(), sent })).toContainEqual(
      expect.stringMatching(/^term: a#1 sent PATCH .* while b#1 held the Lease$/),
    );
  });

  it("a workload that starts to wait without an Event", async () => {
    await play.roll("A");
    const rightAt = [play.stage.clock.monotonic()];
    await play.stage.clock.advance(10);
    await play.config(undefined);
    rightAt.push(play.stage.clock.monotonic());
    expect(judge({ ...play.recording(), rightAt })).toEqual([
      expect.stringMatching(/^waiting: deployments\/default\/web began to wait/),
    ]);
    await play.tell("a#1", "keeps the Pods", "ConfigMissing");
    expect(judge({ ...play.recording(), rightAt })).toEqual([]);
  });

  it("an Event to an owner about trouble of the API server", async () => {
    await play.roll("A");
    await play.tell("a#1", "refused: etcdserver: request timed out", "RolloutRefused");
    expect(await play.judged()).toEqual([expect.stringMatching(/^events: an owner is told/)]);
  });

  it("a reverted newer state", async () => {
    await play.roll("A");
    await play.config("B");
    await play.roll("B");
    await play.roll("A");
    await play.roll("B");
    expect(await play.judged()).toContainEqual(expect.stringContaining("it undoes what is newer"));
  });

  it("a reverted newer state after an owner stripped the hash", async () => {
    await play.config("B");
    await play.roll("B");
    await play.edit({ spec: { template: { metadata: { annotations: { [hashAnnotation]: null } } } } });
    await play.roll("A");
    await play.roll("B");
    expect(await play.judged()).toContainEqual(expect.stringContaining("it undoes what is newer"));
  });

  it("a hash of configuration that was never stored", async () => {
    await play.roll("X");
    await play.roll("A");
    expect(await play.judged()).toEqual([expect.stringContaining("no configuration that was ever stored")]);
  });

  it("a hash while something required is missing", async () => {
    await play.config(undefined);
    const nothing = standsFor(namedBy(play.workload, play.settings), () => undefined).hash;
    const body = { spec: { template: { metadata: { annotations: { [hashAnnotation]: nothing } } } } };
    await play.stage.wave("a#1").request("PATCH", `${deployments}/web`, { body, contentType: merge });
    await play.tell();
    expect(await play.judged()).toEqual([expect.stringContaining("something required was missing")]);
  });

  it("a hash of a workload that has not opted in", async () => {
    await play.edit({ metadata: { annotations: { "wave.pusher.com/update-on-config-change": "false" } } });
    await play.roll("A");
    expect(await play.judged()).toEqual([expect.stringContaining("has not opted in")]);
  });

  it("a change of any other field of the workload", async () => {
    await play.roll("A", { more: { metadata: { labels: { more: "x" } } } });
    expect(await play.judged()).toEqual([expect.stringContaining("it changed metadata, which is not Wave's")]);
  });

  it("a write of configuration that belongs to another client", async () => {
    await play.roll("A");
    const body = { metadata: { labels: { x: "y" } } };
    await play.stage.wave("a#1").request("PATCH", `${configMaps}/c`, { body, contentType: merge });
    expect(await play.judged()).toEqual([expect.stringContaining("place: a#1 wrote configmaps default/c")]);
  });

  it("a change that is never written", async () => {
    await play.roll("A");
    await play.config("B");
    expect(await play.judged()).toEqual([expect.stringMatching(/^end: deployments\/default\/web: it carries v2:/)]);
  });

  it("a scheduling hold that is never removed", async () => {
    await play.roll("A");
    await play.edit({ spec: { template: { spec: { schedulerName: "wave.pusher.com/invalid" } } } });
    expect(await play.judged()).toEqual([expect.stringContaining("something of the scheduling hold is left")]);
  });

  it("a write without an Event", async () => {
    await play.roll("A", { tell: false });
    expect(await play.judged()).toEqual([expect.stringContaining("when all was calm, and nobody was told")]);
  });

  it("a write with two Events", async () => {
    await play.roll("A");
    await play.tell();
    expect(await play.judged()).toEqual([expect.stringContaining("written 1 times and told of 2 times")]);
  });

  it("a write with one Event whose count is too high", async () => {
    await play.roll("A");
    await play.setCount(2);
    expect(await play.judged()).toEqual([expect.stringContaining("written 1 times and told of 2 times")]);
  });

  it("two Events with the same message", async () => {
    await play.roll("A");
    await play.tell("a#1", "waiting", "ConfigMissing");
    await play.tell("a#1", "waiting", "ConfigMissing");
    expect(await play.judged()).toEqual([expect.stringContaining("2 say the same, ConfigMissing: waiting")]);
  });
});

describe("the judge of admission", () => {
  const review = (patch: readonly object[], over: Partial<ReviewEntry> = {}): ReviewEntry => {
    const rv = play.stage.history.at(-1)?.rv ?? 0;
    const { kind, metadata } = play.workload;
    const about = { kind, namespace: metadata.namespace ?? "", name: metadata.name };
    const asked = { at: 0, replica: "a#1", operation: "CREATE", object: play.workload, askedRv: rv, answeredRv: rv };
    return { ...about, ...asked, warnings: [], patch, ...over };
  };
  const add = (value: string) => ({
    op: "add",
    path: "/spec/template/metadata/annotations",
    value: { [hashAnnotation]: value },
  });

  it("accepts the current hash", async () => {
    await play.roll("A");
    await play.config("B");
    play.reviews = [review([{ ...add(play.hash("B")) }])];
    await play.roll("B");
    expect(await play.judged()).toEqual([]);
  });

  it("reports a reverted newer state that the webhook had recorded", async () => {
    await play.roll("A");
    for (const value of ["B", "C"]) await play.config(value);
    play.reviews = [review([{ ...add(play.hash("C")) }])];
    await play.edit({ spec: { template: { metadata: { annotations: { [hashAnnotation]: play.hash("C") } } } } });
    await play.roll("B");
    await play.roll("C");
    expect(await play.judged()).toContainEqual(expect.stringContaining("it undoes what is newer"));
  });

  it("accepts an older state if a person has restored a hash since, and the leader has not seen that of the webhook", async () => {
    const edited = (value: string) =>
      play.edit({ spec: { template: { metadata: { annotations: { [hashAnnotation]: play.hash(value) } } } } });
    await play.roll("A");
    for (const value of ["B", "C"]) await play.config(value);
    play.reviews = [review([{ ...add(play.hash("C")) }])];
    await edited("C");
    await edited("A");
    await play.roll("B");
    await play.roll("C");
    expect(await play.judged()).not.toContainEqual(expect.stringContaining("it undoes what is newer"));
  });

  it("reports a hash of another moment", async () => {
    await play.roll("A");
    play.reviews = [review([add(play.hash("B"))])];
    expect(await play.judged()).toEqual([expect.stringContaining("stands for nothing that was stored")]);
  });

  it("reports a scheduling hold without a reason", async () => {
    await play.roll("A");
    const schedulingHold = "/metadata/annotations/wave.pusher.com~1scheduling-disabled";
    play.reviews = [
      review([
        { op: "add", path: schedulingHold, value: "" },
        { op: "add", path: "/spec/template/spec/schedulerName", value: "wave.pusher.com/invalid" },
      ]),
    ];
    expect(await play.judged()).toEqual([expect.stringContaining("although nothing was missing")]);
  });
});
