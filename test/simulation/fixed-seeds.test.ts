import { createHash } from "node:crypto";
import { describe, expect, inject, it } from "vitest";
import { keptSeeds } from "./kept-seeds.ts";
import { failureOf, quick } from "./played.ts";
import { simulate } from "./stage/run.ts";
import { processFaults, requestFaults, serverFaults, watchFaults } from "./stage/weather.ts";

const seeds = inject("everything") ? 300 : quick.first;

describe("whole replicas in virtual time", () => {
  it.each(keptSeeds.filter(({ isQuick }) => isQuick))("replay seed $seed: $name", async ({ seed }) => {
    expect(await failureOf(seed)).toBeUndefined();
  });

  it(`make no mistake in at least the seeds 1 to ${seeds}, and meet each fault`, {
    timeout: 3_600_000,
  }, async () => {
    const never = new Set<string>([...requestFaults, ...watchFaults, ...processFaults, ...serverFaults]);
    // After a change of the stage, other seeds meet a fault.
    for (let seed = 1; seed <= seeds || (never.size > 0 && seed <= 4 * seeds); seed++) {
      const meet = (line: string) => {
        for (const fault of never) if (happens(line, fault)) never.delete(fault);
      };
      expect(await failureOf(seed, never.size > 0 ? meet : undefined)).toBeUndefined();
    }
    expect([...never]).toEqual([]);
  });

  it("replay the same seed in the same way, step for step", async () => {
    const digestOf = async (seed: number) => {
      const digest = createHash("sha256");
      const { events } = await simulate(seed, (line) => digest.update(line));
      return { events, digest: digest.digest("hex") };
    };
    const first = await digestOf(10);
    expect(await digestOf(10)).toEqual(first);
    expect(await digestOf(9)).not.toEqual(first);
  });
});

/** Reports whether a line of the trace describes a fault: "meets lost", "crash for 100 ms", or only the server and the fault. */
function happens(line: string, fault: string): boolean {
  const told = line.slice(17);
  return told === fault || told.startsWith(`${fault} for `) || (told.includes(" meets ") && told.includes(fault));
}
