import { expect, it, onTestFinished } from "vitest";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { AlertGate } from "./alert-gate.ts";

type TestAnswer = Readonly<Record<string, readonly string[]>> | Error;

/** A running gate, and what Prometheus answers: alerts by namespace, or an Error. */
function scene(answer: TestAnswer = {}, isRequired = false) {
  const clock = new FakeClock();
  const log: string[] = [];
  const logger = { debug: () => {}, info: (line: string) => log.push(line), warn: (line: string) => log.push(line) };
  const state = {
    answer,
    needed: true,
    queries: 0,
    changed: [] as boolean[],
    away: [] as string[],
  };
  const gate = new AlertGate({
    clock,
    log: logger as never,
    isRequired,
    query: async () => {
      state.queries++;
      if (state.answer instanceof Error) throw state.answer;
      return new Map(Object.entries(state.answer));
    },
    isNeeded: () => state.needed,
    onChange: (isChanged) => state.changed.push(isChanged("shop")),
    onResult: () => {},
    onAway: (message) => state.away.push(message),
  });
  const stop = new AbortController();
  const done = gate.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await done;
  });
  return { clock, gate, state, log };
}

const away = new Error("no answer");

it("queries every 15 s while a rollout waits or is in progress, and not otherwise", async () => {
  const { clock, gate, state } = scene();
  await clock.advance(60_000);
  expect(state.queries).toBe(5);
  state.needed = false;
  await clock.advance(3_600_000);
  expect(state.queries).toBe(5);
  gate.wake();
  await clock.advance(3_600_000);
  expect(state.queries).toBe(5);
  state.needed = true;
  gate.wake();
  await clock.advance(0);
  expect(state.queries).toBe(6);
});

it("knows nothing before the first answer, and again after a time without queries", async () => {
  const { clock, gate, state } = scene();
  expect(gate.of("shop")).toEqual({ state: "unknown", isRequired: false });
  await clock.advance(0);
  expect(gate.of("shop")).toEqual({ state: "none" });
  state.needed = false;
  await clock.advance(15_000);
  expect(gate.of("shop")).toEqual({ state: "unknown", isRequired: false });
});

it("reports since when an alert fires, except for an alert that may have begun before the queries", async () => {
  const { clock, gate, state } = scene({ shop: ["Old"] });
  await clock.advance(0);
  state.answer = { shop: ["New", "Old"], blog: ["New"] };
  await clock.advance(15_000);
  const since = clock.wall();
  await clock.advance(15_000);
  const alerts = [
    { name: "Old", since: undefined },
    { name: "New", since },
  ];
  expect(gate.of("shop")).toEqual({ state: "firing", alerts });
  expect(gate.of("blog")).toEqual({ state: "firing", alerts: [{ name: "New", since }] });
  expect(state.changed).toEqual([true, true, false]);
  state.answer = {};
  await clock.advance(15_000);
  expect(gate.of("shop")).toEqual({ state: "none" });
});

it("keeps the last answer for two minutes without another, then warns once and holds nothing", async () => {
  const { clock, gate, state, log } = scene({ shop: ["Slow"] });
  await clock.advance(0);
  state.answer = away;
  await clock.advance(120_000);
  expect(gate.of("shop")).toMatchObject({ state: "firing" });
  expect(state.away).toEqual([]);
  await clock.advance(600_000);
  expect(gate.of("shop")).toEqual({ state: "none" });
  expect(state.away).toEqual([
    "Prometheus has not answered the query for alerts for 2m. Rollouts continue without the alert gate. Check --gate-prometheus-url.",
  ]);
  expect(state.changed).toEqual([true, true]);
  state.answer = { shop: ["Slow"] };
  await clock.advance(15_000);
  // The alert may have begun before a rollout of these minutes.
  expect(gate.of("shop")).toEqual({ state: "firing", alerts: [{ name: "Slow", since: undefined }] });
  expect(log).toEqual([
    "Prometheus does not answer the query for alerts; rollouts continue without the alert gate",
    "Prometheus answers the query for alerts again",
  ]);
});

it("holds for two minutes if Prometheus never answers, and does not wait again for each rollout after that", async () => {
  const { clock, gate, state } = scene(away);
  await clock.advance(119_000);
  expect(gate.of("shop")).toEqual({ state: "unknown", isRequired: false });
  await clock.advance(1_000);
  expect(gate.of("shop")).toEqual({ state: "none" });
  state.needed = false;
  await clock.advance(3_600_000);
  expect(gate.of("shop")).toEqual({ state: "none" });
});

it("holds as long as Prometheus is away if it is required", async () => {
  const { clock, gate, state } = scene(away, true);
  await clock.advance(3_600_000);
  expect(gate.of("shop")).toEqual({ state: "unknown", isRequired: true });
  expect(state.away).toEqual([
    "Prometheus has not answered the query for alerts for 2m. Rollouts wait, because --gate-required is set. Check --gate-prometheus-url.",
  ]);
});
