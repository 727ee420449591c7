import { afterAll, beforeAll, expect, it } from "vitest";
import { type Cluster, connect } from "../control-plane/cluster.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { createDice, randomFrom } from "../simulation/dice.ts";
import { judgeEnd } from "../simulation/judge-end.ts";
import { createWorld } from "../simulation/world.ts";
import { shapes } from "../simulation/world-scenarios.ts";
import { playedSeed } from "../support/played-seed.ts";
import { type Replica, startReplicas, stopReplicas } from "./replicas.ts";
import { apiOf, storedIn } from "./stored.ts";
import { createWeather, faults } from "./weather.ts";

/** WAVE_FAULTS_SECONDS=300 makes it longer. */
const seconds = Number(process.env.WAVE_FAULTS_SECONDS ?? 30);
const seed = playedSeed();
/**
 * The longest time for which a fault may have effects. A request times out after 10 s, a watch restarts after 30 s at the latest, a
 * workload is retried after 15 s, and a workload whose hash was removed several times waits for 40 s.
 */
const healedMs = 60_000;
/** The number of faults between two checks of the result. */
const perRound = 5;
const say = (line: string) => process.stderr.write(`faults: ${line}\n`);

describeOnControlPlane("while requests, connections and the API server itself fail", () => {
  // An API server that is killed would disturb the other suites.
  let plane: ControlPlane;
  let cluster: Cluster;
  const replicas: Replica[] = [];
  beforeAll(async () => {
    plane = await startControlPlane();
    cluster = connect(plane);
  });
  afterAll(async () => {
    await stopReplicas(replicas);
    cluster?.close();
    await plane?.stop();
  });

  it(
    "random changes reach every workload: each has the right hash soon after the last fault, in every round",
    async () => {
      say(`WAVE_SEED=${seed}`);
      const stored = storedIn(cluster, [...new Set(shapes.flatMap(({ namespaces }) => namespaces))]);
      const world = createWorld({ api: apiOf(cluster), random: randomFrom(seed), sleep, history: stored.history });
      const { settings } = world;
      say(JSON.stringify(settings));
      await stored.look();
      await world.start();
      await startReplicas(replicas, plane, settings);
      const weather = createWeather({ plane, replicas, dice: createDice(randomFrom(seed + 1)), say });

      /** Changes objects all the time. While the API server is unavailable no change is possible. */
      const editUntil = async (over: AbortSignal) => {
        let changes = 0;
        while (!over.aborted) {
          const there = await stored.look().then(
            () => true,
            () => false,
          );
          for (let i = 0; there && i < 10 && !over.aborted; i++) {
            if (/ 200\b/.test(await world.step())) changes++;
          }
          if (!there) await sleep(100);
        }
        return changes;
      };
      const right = async () => {
        await stored.look();
        const wrong = judgeEnd({
          settings,
          history: stored.history,
          rightAt: [Number.POSITIVE_INFINITY],
          unlisted: undefined,
        });
        if (wrong.length > 0) throw new Error(wrong.join("\n"));
        return true;
      };

      const end = performance.now() + seconds * 1_000;
      for (let round = 0; round * perRound < faults.length || performance.now() < end; round++) {
        const over = new AbortController();
        const storm = weather.storm(perRound).finally(() => over.abort());
        const [changes] = await Promise.all([editUntil(over.signal), storm]);
        await until(
          "the API server to be back",
          async () => (await cluster.kubectl(["get", "--raw=/readyz"])) === "ok",
        );
        const calm = performance.now();
        await until("every workload to be right", right, healedMs).catch((error: unknown) => {
          for (const { wave } of replicas) say(`a replica's last lines:\n${lastLines(wave.log(), 100)}`);
          throw error;
        });
        say(`calm: ${changes} changes, all right after ${((performance.now() - calm) / 1_000).toFixed(1)} s`);
      }
      const restarts = await watchRestarts(replicas);
      say(`watches begun again: ${JSON.stringify(restarts)}`);
      // The watches of Wave had every fault, also that the API server no longer has their resourceVersion.
      expect(Object.keys(restarts).toSorted()).toEqual(["connection", "ended", "gone", "refused"]);
    },
    (seconds + 240) * 1_000,
  );
});

function lastLines(text: string, count: number): string {
  return text.split("\n").slice(-count).join("\n");
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Returns the number of restarts of the watches of all replicas, by reason. */
async function watchRestarts(replicas: readonly Replica[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { wave } of replicas) {
    const series = (await wave.metrics()).matchAll(/^wave_watch_restarts_total\{.*reason="(\w+)"\} (\d+)/gm);
    for (const [, reason = "", count] of series) counts[reason] = (counts[reason] ?? 0) + Number(count);
  }
  return counts;
}
