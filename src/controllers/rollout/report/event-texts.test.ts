import { describe, expect, it } from "vitest";
import { workload } from "../../../../test/support/domain/objects.ts";
import { type RolloutStrategyName, rolloutStrategies } from "../../../domain/model/rollout-strategy.ts";
import { writtenEvent } from "./event-texts.ts";

describe("the Event of a first hash", () => {
  const plan = { outcome: "firstHash", reason: "no hash is recorded yet", warnings: [] } as const;
  const messageFor = (name: RolloutStrategyName) =>
    writtenEvent({ ...workload(), strategy: rolloutStrategies[name] }, plan, undefined).message;

  it("names the place of the hash", () => {
    expect(messageFor("template")).toBe("Added the configuration hash to the pod template: no hash is recorded yet.");
    for (const name of ["templateSource", "restart"] as const) {
      expect(messageFor(name)).toBe("Added the configuration hash to the annotations: no hash is recorded yet.");
    }
  });
});
