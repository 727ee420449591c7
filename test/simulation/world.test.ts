import { expect, it } from "vitest";
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

it("the world shows no mistake of a perfect Wave, and does every action, of which the API server rejects none as invalid", async () => {
  const lines: string[] = [];
  for (let seed = 0; seed < 10; seed++) {
    const { told, recording } = await run(seed, 60);
    expect(judge(recording), `seed ${seed}`).toEqual([]);
    lines.push(...told);
  }
  const refused = lines.filter((line) => / (400|409|415|422|500)\b/.test(line));
  expect(refused).toEqual([]);
  expect(new Set(lines.map((line) => line.split(":")[0])).size).toBeGreaterThanOrEqual(21);
});
