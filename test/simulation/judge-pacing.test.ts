import fc from "fast-check";
import { beforeEach, describe, expect, inject, it } from "vitest";
import { isOpen, parseWindow } from "../../src/domain/syntax/window.ts";
import { judge } from "./judge.ts";
import { lastWaitEnd } from "./judge-pace.ts";
import { standsFor } from "./model-search.ts";
import { isWindowOpen } from "./model-window.ts";
import { namedBy, schedulerOnHold } from "./model-workload.ts";
import { configMaps, deployments, hashAnnotation, merge, Play } from "./play.ts";
import type { Pacing } from "./record.ts";

const pacing: Pacing = {
  settleMs: 1_000,
  maxConcurrent: 1,
  soakMs: 3_000,
  haltAfterFailures: 1,
  rolloutTimeoutMs: 60_000,
  observe: false,
  window: undefined,
};

let play: Play;
beforeEach(async () => {
  play = new Play();
  play.settings = { ...play.settings, pacing };
  await play.begin();
  await play.roll("A");
  await play.stage.clock.advance(60_000);
});

const say = (annotations: Record<string, string>) =>
  play.edit({
    metadata: {
      annotations: Object.fromEntries(Object.entries(annotations).map(([n, v]) => [`wave.pusher.com/${n}`, v])),
    },
  });
const sayOfAll = (annotations: Record<string, string>) =>
  play.stage.api.request("PATCH", "/api/v1/namespaces/default", {
    body: { metadata: { annotations } },
    contentType: merge,
  });
const change = async (value: string) => {
  await play.config(value);
  await play.stage.clock.advance(2_000);
};

describe("the judge of pacing accepts", () => {
  it("rollouts with longer and longer waits", async () => {
    for (const [value, waitMs] of Object.entries({ B: 21_000, C: 41_000, D: 81_000 })) {
      await change(value);
      await play.roll(value);
      await play.stage.clock.advance(waitMs);
    }
    expect(await play.judged()).toEqual([]);
  });

  it("a workload that is held at the end, and an approved rollout", async () => {
    await change("B");
    await say({ mode: "approve", approved: play.hash("B").slice(3, 11) });
    await play.roll("B");
    await change("C");
    await play.tell("a#1", "it is not approved", "RolloutHeld");
    expect(await play.judged()).toEqual([]);
  });
});

it("knows how long a rollout may wait, which doubles with each consecutive rollout", async () => {
  const waits: number[] = [];
  for (const quietMs of [1_000, 1_000, 1_000, 599_000, 601_000]) {
    await play.stage.clock.advance(quietMs);
    const rolledAt = play.stage.clock.monotonic();
    await play.roll(`${rolledAt}`);
    waits.push(lastWaitEnd(play.recording()) - rolledAt);
  }
  expect(waits).toEqual([20_000, 40_000, 80_000, 160_000, 10_000]);
});

it("knows that the end of a scheduling hold is a rollout of such a series, too", async () => {
  await play.edit({ spec: { template: { spec: { schedulerName: schedulerOnHold } } } });
  const rolledAt = play.stage.clock.monotonic();
  await play.roll("B");
  expect(lastWaitEnd(play.recording()) - rolledAt).toBe(20_000);
});

/** Stores a copy without keys, and writes a pod template that names it: its Pods lack the key that they read. */
const readMoreThanCopies = async () => {
  await play.stage.api.request("POST", configMaps, { body: { metadata: { name: "c-0" } } });
  await play.edit({ spec: { template: { metadata: { annotations: { "wave.pusher.com/pinned": "c=c-0" } } } } });
  await play.stage.clock.advance(2_000);
};

describe("a pod template that reads keys which its copies lack", () => {
  beforeEach(async () => {
    await change("B");
    await play.roll("B");
    await play.stage.clock.advance(2_000);
    await say({ window: "Mon 00:00-00:01; Tue 00:00-00:01" });
  });

  it("is rolled at once", async () => {
    await change("C");
    await readMoreThanCopies();
    await play.roll("C");
    expect(await play.judged()).toEqual([]);
  });

  it("waits with a change of the ConfigMap after it", async () => {
    await readMoreThanCopies();
    await change("C");
    await play.stage.clock.advance(16_000);
    await play.roll("C");
    expect(await play.judged()).toEqual([expect.stringContaining("outside of")]);
  });

  it("waits after an edit of another field", async () => {
    await change("C");
    await readMoreThanCopies();
    await play.roll("C");
    await change("D");
    await play.edit({ spec: { revisionHistoryLimit: 3 } });
    await play.stage.clock.advance(16_000);
    await play.roll("D");
    expect(await play.judged()).toEqual([
      expect.stringContaining("outside of"),
      expect.stringMatching(/^pace: .* after roll 3 in a row, not 40000/),
    ]);
  });
});

describe("the judge of pacing reports", () => {
  it("a hold without an Event", async () => {
    const rightAt = [play.stage.clock.monotonic()];
    await play.stage.clock.advance(10);
    await say({ hold: "true" });
    await change("B");
    rightAt.push(play.stage.clock.monotonic());
    const judged = judge({ ...play.recording(), rightAt });
    expect(judged).toEqual([expect.stringMatching(/^held: deployments\/default\/web is held/)]);
  });

  it.each([
    ["a hold", { hold: "true" }, "it rolled what is held"],
    ["an unreadable value", { window: "sometimes" }, "it rolled what is held"],
    ["observe mode", { mode: "observe" }, "only to be told"],
    ["a missing approval", { mode: "approve", approved: "0000000" }, "nobody has approved"],
    ["a closed window", { window: "Mon 00:00-00:01; Tue 00:00-00:01" }, "outside of"],
  ])("a rollout despite %s", async (_, annotations, told) => {
    await say(annotations);
    await change("B");
    await play.roll("B");
    expect(await play.judged()).toEqual([expect.stringContaining(told)]);
  });

  it("a rollout despite a hold of the Namespace, unless the workload overrides the hold", async () => {
    await sayOfAll({ "wave.pusher.com/hold": "true" });
    await play.stage.clock.advance(20_000);
    await change("B");
    await play.roll("B");
    expect(await play.judged()).toEqual([expect.stringContaining("it rolled what is held")]);
    await say({ hold: "false" });
    await play.stage.clock.advance(20_000);
    await change("C");
    await play.roll("C");
    expect(await play.judged()).toHaveLength(1);
  });

  it("a rollout too soon after the previous one, and the next consecutive rollout", async () => {
    await change("B");
    await play.roll("B");
    await change("C");
    await play.roll("C");
    await play.stage.clock.advance(15_000);
    await change("D");
    await play.roll("D");
    const judged = await play.judged();
    expect(judged).toEqual([
      expect.stringMatching(/it rolled 20\d\d ms after roll 2 in a row, not 20000/),
      expect.stringMatching(/after roll 3 in a row, not 40000/),
    ]);
  });

  it("a rollout for an object that has only just changed", async () => {
    await play.config("B");
    await play.stage.clock.advance(500);
    await play.roll("B");
    expect(await play.judged()).toEqual([expect.stringMatching(/^settling: .* after what it reads had changed/)]);
  });

  it("a rollout while the previous one is under way", async () => {
    await play.edit({ spec: { replicas: 1, template: { spec: { schedulerName: "nobody" } } } });
    await play.stage.clock.advance(1_000);
    await change("B");
    await play.roll("B");
    await play.stage.clock.advance(20_000);
    await change("C");
    await play.roll("C");
    expect(await play.judged()).toContainEqual(expect.stringContaining("a roll that is still under way"));
  });

  it("a hash that is written again after every revert", async () => {
    for (let tries = 0; tries < 11; tries++) {
      await play.edit({ spec: { template: { metadata: { annotations: { [hashAnnotation]: null } } } } });
      await play.roll("A");
    }
    expect(await play.judged()).toContainEqual(expect.stringContaining("it wrote the same hash 11 times"));
  });

  it("a workload that is never rolled although nothing holds it any more", async () => {
    await say({ hold: "true" });
    await change("B");
    await play.tell("a#1", "it is held", "RolloutHeld");
    expect(await play.judged()).toEqual([]);
    await say({ hold: "false" });
    expect(await play.judged()).toEqual([expect.stringContaining("it carries")]);
  });
});

describe("the judge of batches", () => {
  /** Creates three more Deployments that read the same ConfigMap. A `broken` Deployment never gets a Pod that runs. */
  const others = ["w0", "w1", "w2"];
  const create = async (broken: boolean) => {
    for (const name of others) {
      await play.stage.api.request("POST", deployments, { body: play.deployment(name, broken) });
      await play.stage.clock.advance(1_000);
      await play.rollOne(name, "A");
    }
    await play.stage.clock.advance(60_000);
    await change("B");
  };

  it("accepts one rollout after the other, with a soak time before the second", async () => {
    await create(false);
    await play.rollOne("w0", "B");
    await play.stage.clock.advance(5_000);
    for (const name of ["w1", "w2", "web"]) {
      await play.rollOne(name, "B");
      await play.stage.clock.advance(1_000);
    }
    expect(await play.judged()).toEqual([]);
  });

  it("reports a rollout before the first has been complete for long enough", async () => {
    await create(false);
    await play.rollOne("w0", "B");
    await play.stage.clock.advance(200);
    await play.rollOne("w1", "B");
    for (const name of ["w2", "web"]) {
      await play.stage.clock.advance(5_000);
      await play.rollOne(name, "B");
    }
    expect(await play.judged()).toEqual([expect.stringMatching(/w1 .* it follows a canary that has not passed/)]);
  });

  it("accepts a workload without Pods at any time, and does not take it for the canary", async () => {
    await create(false);
    await play.roll("B");
    await play.stage.clock.advance(5_000);
    await play.rollOne("w0", "B");
    await play.stage.clock.advance(200);
    await play.rollOne("w1", "B");
    await play.stage.clock.advance(5_000);
    await play.rollOne("w2", "B");
    expect(await play.judged()).toEqual([expect.stringMatching(/w1 .* it follows a canary that has not passed/)]);
  });

  it("accepts other workloads in place of a canary that someone has changed since", async () => {
    play.settings = { ...play.settings, pacing: { ...pacing, maxConcurrent: 5 } };
    await create(false);
    await play.rollOne("w0", "B");
    const stripped = { spec: { template: { metadata: { annotations: { [hashAnnotation]: null } } } } };
    await play.stage.api.request("PATCH", `${deployments}/w0`, { body: stripped, contentType: merge });
    await play.stage.clock.advance(200);
    await play.rollOne("w1", "B");
    const judged = await play.judged();
    expect(judged.filter((each) => each.startsWith("wave:"))).toEqual([]);
  });

  it("reports a rollout after one that fails", async () => {
    await create(true);
    await play.rollOne("w0", "B");
    await play.stage.clock.advance(120_000);
    await play.rollOne("w1", "B");
    const judged = await play.judged();
    expect(judged.filter((each) => each.includes("follows"))).toEqual([
      expect.stringMatching(/w1 .* it follows a canary that has not passed/),
    ]);
    expect(judged).toContainEqual(expect.stringMatching(/w1 .* is not marked as not complete, and was not complete/));
  });

  it.each([
    ["accepts a rollout that follows a jump of the clock, which ends the leadership", "12:00:12", []],
    ["reports a rollout that follows a renewal of the Lease", "12:00:04", [expect.stringMatching(/w1 .* it follows/)]],
  ])("%s", async (_, renewedAt, expected) => {
    await create(true);
    await play.lead("a#1", "2026-01-01T12:00:00Z");
    await change("C");
    await play.rollOne("w0", "C");
    await play.stage.clock.advance(2_000);
    await play.lead("a#1", `2026-01-01T${renewedAt}Z`);
    await play.rollOne("w1", "C");
    expect((await play.judged()).filter((each) => each.includes("follows"))).toEqual(expected);
  });

  it.each([
    ["accepts rollouts by a cache that is late for content that went and came back", 1_000, []],
    ["reports rollouts when a cache must show it", 20_000, [expect.stringMatching(/w2 .* it follows a canary/)]],
  ])("%s", async (_, lateMs, expected) => {
    await create(false);
    await play.rollOne("w0", "B");
    await play.stage.clock.advance(5_000);
    await play.config(undefined);
    await play.config("B");
    await play.stage.clock.advance(lateMs);
    await play.rollOne("w1", "B");
    await play.stage.clock.advance(1_000);
    await play.rollOne("w2", "B");
    expect((await play.judged()).filter((each) => each.includes("follows"))).toEqual(expected);
  });

  it("reports rollouts to earlier content that the cache no longer showed at the last rollout", async () => {
    await create(false);
    for (const [value, soakMs] of [
      ["B", 4_000],
      ["C", 4_000],
      ["B", 200],
    ] as const) {
      await change(value);
      await play.rollOne("w0", value);
      await play.stage.clock.advance(soakMs);
      await play.rollOne("w1", value);
    }
    const follows = (await play.judged()).filter((each) => each.includes("follows"));
    expect(follows).toEqual([expect.stringMatching(/w1 .* it follows a canary/)]);
  });

  it("reports a rollout before a validator has passed, unless the validator is paused", async () => {
    const validator = play.deployment("check", false) as { readonly metadata: { readonly annotations: object } };
    const annotations = { ...validator.metadata.annotations, "wave.pusher.com/validator": "true" };
    const body = { ...validator, metadata: { ...validator.metadata, annotations } };
    await play.stage.api.request("POST", deployments, { body });
    await play.stage.clock.advance(1_000);
    await play.rollOne("check", "A");
    await create(false);
    await play.rollOne("w0", "B");
    await play.rollOne("check", "B");
    await play.stage.clock.advance(5_000);
    await play.rollOne("w1", "B");
    const late = (judged: readonly string[]) => judged.filter((each) => each.includes("validator"));
    expect(late(await play.judged())).toEqual([
      expect.stringMatching(/w0 .* it comes before validator check has passed a change/),
    ]);
    const paused = { body: { spec: { paused: true } }, contentType: merge };
    await play.stage.api.request("PATCH", `${deployments}/check`, paused);
    await play.stage.clock.advance(60_000);
    await change("C");
    await play.rollOne("w1", "C");
    expect(late(await play.judged())).toHaveLength(1);
  });

  it("reports a rollout to what no validator has passed after an edit of another key, until it has passed", async () => {
    const add = (name: string, env: object, said: object) => {
      const body = play.deployment(name, false) as { readonly metadata: { readonly annotations: object } };
      const annotations = { ...body.metadata.annotations, ...said };
      const template = {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: "app", image: "a", ...env }] },
      };
      const spec = { replicas: 1, selector: { matchLabels: { app: name } }, template };
      return play.stage.api.request("POST", deployments, { body: { metadata: { name, annotations }, spec } });
    };
    const key = { env: [{ name: "V", valueFrom: { configMapKeyRef: { name: "c", key: "k" } } }] };
    const edit = async (data: object) => {
      await play.stage.api.request("PUT", `${configMaps}/c`, { body: { metadata: { name: "c" }, data } });
      await play.stage.clock.advance(60_000);
    };
    const roll = async (name: string, data: Record<string, string>) => {
      const { after } = play.stage.history.findLast((one) => one.after?.metadata.name === name) ?? {};
      const { hash = "" } = standsFor(namedBy(after ?? play.workload, play.settings), () => ({
        ...{ kind: "ConfigMap", metadata: { name: "c", namespace: "default", uid: "", resourceVersion: "" }, data },
      }));
      const body = { spec: { template: { metadata: { annotations: { [hashAnnotation]: hash } } } } };
      await play.stage.wave("a#1").request("PATCH", `${deployments}/${name}`, { body, contentType: merge });
      await play.stage.clock.advance(10_000);
    };
    await add("check", key, { "wave.pusher.com/validator": "true" });
    for (const name of ["w0", "w1"]) await add(name, { envFrom: [{ configMapRef: { name: "c" } }] }, {});
    for (const name of ["check", "w0", "w1"]) await roll(name, { k: "A" });
    await edit({ k: "bad" });
    await edit({ k: "bad", other: "1" });
    await roll("w0", { k: "bad", other: "1" });
    await roll("check", { k: "bad" });
    await edit({ k: "bad", other: "2" });
    await roll("w1", { k: "bad", other: "2" });
    const late = (await play.judged()).filter((each) => each.includes("validator"));
    expect(late).toEqual([expect.stringMatching(/w0 .* it comes before validator check has passed a change/)]);
  });

  it("reports two rollouts at once if only one is allowed", async () => {
    await create(true);
    await play.roll("B");
    await play.stage.clock.advance(10_000);
    await play.rollOne("w0", "B");
    await play.rollOne("w1", "B");
    expect(await play.judged()).toContainEqual(expect.stringMatching(/w1 .* it is rollout 2 at once/));
  });
});

describe("the judge's calendar", () => {
  it("agrees with Wave about each window at each time", () => {
    const days = fc.constantFrom("Mon-Sun", "Sat,Sun", "Fri-Mon", "Wed", "Tue,Thu-Fri");
    const minutes = fc.integer({ min: 0, max: 24 * 60 - 1 });
    const zones = fc.constantFrom("", " UTC", " Europe/Berlin", " America/New_York", " Australia/Lord_Howe");
    const text = (minute: number) =>
      `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;
    const part = fc
      .tuple(days, minutes, minutes, zones)
      .map(([d, from, to, zone]) => `${d} ${text(from)}-${text(to)}${zone}`);
    const windows = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("; "));
    const times = fc.integer({ min: Date.UTC(2026, 2, 25), max: Date.UTC(2026, 10, 5) });
    const check = fc.property(windows, times, (window, at) => {
      const parsed = parseWindow(window);
      fc.pre(parsed !== undefined);
      expect(isWindowOpen(window, at)).toBe(parsed && isOpen(parsed, at));
    });
    fc.assert(check, { numRuns: inject("everything") ? 2_000 : 500 });
  });
});
