import { describe, expect, it } from "vitest";
import { randomFrom } from "./dice.ts";
import { judge } from "./judge.ts";
import { perfectWave } from "./perfect-replica.ts";
import { startSmallStage } from "./small-stage.ts";
import { createWorld } from "./world.ts";

async function run(seed: number, steps: number) {
  const stage = startSmallStage(randomFrom(seed + 1_000_000));
  const { clock, api, history } = stage;
  const world = createWorld({ api, random: randomFrom(seed), sleep: async () => {}, history });
  const settings = { ...world.settings, webhooks: false };
  const wave = perfectWave(stage, settings);
  await wave.lead();
  await world.start();
  const told: string[] = [];
  for (let i = 0; i < steps; i++) {
    told.push(await world.step());
    await clock.advance(100);
    await wave.work();
  }
  const calmAt = clock.monotonic();
  for (let i = 0; i < 30; i++) {
    await clock.advance(1_000);
    await wave.work();
  }
  return { told, recording: stage.recording(settings, calmAt) };
}

describe("the world", () => {
  it.each(Array.from({ length: 10 }, (_, seed) => seed))("shows no mistake of a perfect Wave (%i)", async (seed) => {
    const { recording } = await run(seed, 60);
    expect(judge(recording)).toEqual([]);
  });

  it("does every action, and the API server rejects none of them as invalid", async () => {
    const lines: string[] = [];
    for (let seed = 100; seed < 110; seed++) lines.push(...(await run(seed, 60)).told);
    const refused = lines.filter((line) => / (400|409|415|422|500)\b/.test(line));
    expect(refused).toEqual([]);
    expect(new Set(lines.map((line) => line.split(":")[0])).size).toBeGreaterThanOrEqual(21);
  });
});
