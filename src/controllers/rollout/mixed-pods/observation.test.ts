import { expect, it } from "vitest";
import { lookupOf, workload } from "../../../../test/support/domain/objects.ts";
import { observeConfig } from "../../../domain/pods/spans.ts";
import { systemClock } from "../../../lib/clock.ts";
import { observeRun } from "./mixed-pods.ts";
import { observationOf } from "./observation.ts";

it("notes no difference from an earlier hash to which a rollout returns", () => {
  const before = { ...workload(), recordedHash: "v2:edited" };
  const outcome = {
    type: "written",
    before,
    plan: { outcome: "roll", reason: "", warnings: [], hash: "v2:earlier" },
  } as const;
  const seen = observationOf(outcome, undefined, { caughtUpWith: undefined }, lookupOf(), systemClock);
  if (typeof seen !== "object") throw new Error("the run has shown nothing");
  const whileEdited = { from: 1_000, to: 2_000 };
  const spans = new Map([
    ["v2:edited", [{ from: 2_000, to: undefined }]],
    ["v2:earlier", [whileEdited]],
  ]);
  const known = observeConfig({ uid: before.uid, hash: "v2:edited", spans, uncertainSince: undefined }, seen);
  expect(known?.spans.get("v2:earlier")).toEqual([whileEdited]);
});

it("forgets when the configuration differed from what is recorded beside a hash, as soon as a rollout returns to this hash", () => {
  const uid = "uid";
  const plan = { outcome: "roll", reason: "", warnings: [], hash: "v2:first" } as const;
  const written = { type: "written", plan } as const;
  const noted = "v2:first 2027-01-15T08:00:00Z/";
  const before = { ...workload(), uid, recordedHash: "v2:first", differed: noted };
  const spans = new Map([["v2:first", [{ from: 1_000, to: undefined }]]]);
  const known = { uid, hash: "v2:first", spans, uncertainSince: undefined };
  const after = (recordedConfig: string | undefined) => {
    const findings = {
      mixed: { spans: known, pods: undefined, readFor: undefined, nextAt: 0, rolledFor: undefined, settled: undefined },
      notedSpansOf: undefined,
      checkAtMonotonic: undefined,
      caughtUpWith: undefined,
    };
    const options = { caches: { lookup: lookupOf() } as never, clock: systemClock };
    observeRun({ ...written, before: { ...before, recordedConfig } }, undefined, findings, undefined, options);
    return findings;
  };
  expect(after("v2:first v2:other")).toMatchObject({ mixed: undefined, notedSpansOf: uid });
  expect(after(undefined).mixed?.spans).toEqual(known);
});
