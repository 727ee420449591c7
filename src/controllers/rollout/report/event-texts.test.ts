import { describe, expect, it } from "vitest";
import { workload } from "../../../../test/support/domain/objects.ts";
import { writtenAnnouncement } from "./event-texts.ts";

describe("what is told of a first hash", () => {
  const told = (rolledBy: "template" | "templateSource" | "restart") => {
    const plan = { outcome: "firstHash", reason: "no hash is recorded yet", warnings: [] } as const;
    return writtenAnnouncement({ ...workload(), rolledBy }, plan, undefined).message;
  };

  it("is where it was written", () => {
    expect(told("template")).toBe("added the hash of its configuration to the pod template: no hash is recorded yet");
    for (const rolledBy of ["templateSource", "restart"] as const)
      expect(told(rolledBy)).toBe("added the hash of its configuration to its annotations: no hash is recorded yet");
  });
});
