import { createHash } from "node:crypto";
import { describe, expect, inject, it } from "vitest";
import { keptSeeds } from "./kept-seeds.ts";
import { failureOf } from "./played.ts";
import { simulate } from "./stage/run.ts";
import { processFaults, requestFaults, serverFaults, watchFaults } from "./stage/weather.ts";

const everything = inject("everything");

/** Most seeds have several faults, so a few dozen seeds meet each of them. */
const seeds = everything ? 300 : 20;

describe("whole replicas in virtual time", () => {
  it.each(keptSeeds.filter(({ isQuick }) => everything || isQuick))("replay seed $seed: $name", async ({ seed }) => {
    expect(await failureOf(seed)).toBeUndefined();
  });

  it("replay the same seed in the same way, step for step", async () => {
    const digestOf = async (seed: number) => {
      const digest = createHash("sha256");
      const { events } = await simulate(seed, (line) => digest.update(line));
      return { events, digest: digest.digest("hex") };
    };
    const first = await digestOf(3);
    expect(await digestOf(3)).toEqual(first);
    expect(await digestOf(1003)).not.toEqual(first);
  });

  it(`make no mistake in the seeds 1 to ${seeds}, whatever faults happen around them`, {
    timeout: 3_600_000,
  }, async () => {
    const never = new Set<string>([...requestFaults, ...watchFaults, ...processFaults, ...serverFaults]);
    for (let seed = 1; seed <= seeds; seed++) {
      const meet = (line: string) => {
        for (const fault of never) if (happens(line, fault)) never.delete(fault);
      };
      expect(await failureOf(seed, never.size > 0 ? meet : undefined)).toBeUndefined();
    }
    expect([...never]).toEqual([]);
  });
});

/** Reports whether a line of the trace describes a fault: "meets lost", "crash for 100 ms", or only the server and the fault. */
function happens(line: string, fault: string): boolean {
  const told = line.slice(17);
  return told === fault || told.startsWith(`${fault} for `) || (told.includes(" meets ") && told.includes(fault));
}
