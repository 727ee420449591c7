import { expect, it } from "vitest";
import { lookupOf, workload } from "../../../../test/support/domain/objects.ts";
import { observeConfig } from "../../../domain/pods/spans.ts";
import { systemClock } from "../../../lib/clock.ts";
import { observationOf } from "./observation.ts";

it("notes no difference from an earlier hash to which a rollout returns", () => {
  const before = { ...workload(), recordedHash: "v2:edited" };
  const outcome = {
    type: "written",
    before,
    plan: { outcome: "roll", reason: "", warnings: [], hash: "v2:earlier" },
  } as const;
  const seen = observationOf(outcome, undefined, { caughtUpWith: undefined }, lookupOf(), systemClock);
  if (seen === undefined || seen === "ignored") throw new Error("the run has shown nothing");
  const whileEdited = { from: 1_000, to: 2_000 };
  const spans = new Map([
    ["v2:edited", [{ from: 2_000, to: undefined }]],
    ["v2:earlier", [whileEdited]],
  ]);
  const known = observeConfig({ uid: before.uid, hash: "v2:edited", spans, uncertainSince: undefined }, seen);
  expect(known?.spans.get("v2:earlier")).toEqual([whileEdited]);
});
