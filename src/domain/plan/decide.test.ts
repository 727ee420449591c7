import { expect, it } from "vitest";
import { decide } from "../../../test/support/domain/decisions.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  pinnedCopy,
  unpaced,
  workload,
} from "../../../test/support/domain/objects.ts";
import { momentAt, noon } from "../../../test/support/pacing/due.ts";
import type { HoldReason } from "../outcomes/outcomes.ts";
import type { Moment } from "../pacing/moment.ts";

const policy = { ...defaultPolicy, pinConfig: true, pacing: { ...unpaced, maxConcurrent: 1 } };
const copy = pinnedCopy("page-0000000001", { a: "1" });
const page = configMap("page", { a: "2", b: "2" });
const pinned = "page=page-0000000001";

/** Returns the warnings about a due workload with pins that reads this key. A hold of the batches stands for each hold. */
function warned(
  reason: HoldReason | undefined,
  key: string,
  lookup = lookupOf(page, copy),
  known: Partial<Moment> = {},
) {
  const env = [{ name: "A", valueFrom: { configMapKeyRef: { name: "page", key } } }];
  const web = workload({
    annotations: { "wave.pusher.com/pin-config": "true" },
    templateAnnotations: { "wave.pusher.com/config-hash": "x", "wave.pusher.com/pinned": pinned },
    pod: { containers: [{ name: "web", env }] },
  });
  const { outcome, warnings } = decide({
    workload: { ...web, uid: "1", rolledAt: noon / 1000 - 3_600, progress: { state: "complete", since: undefined } },
    lookup,
    policy,
    moment: momentAt(noon, known),
    batchHold: () => reason && { reason, message: "", until: undefined, warning: false },
  });
  expect(outcome === "held").toBe(reason !== undefined);
  return warnings;
}

it.for(["observed", "clusterHold", "invalid", "hold", "approval", "halted", "window"] as const)(
  "warns of a copy that lacks a required key: %s",
  (reason) => {
    expect(warned(reason, "b")).toEqual([
      { reason: "PinsKept", message: expect.stringContaining('ConfigMap "page" lacks a required key') },
    ]);
  },
);

it("does not warn if the copy has the key, was deleted, or is replaced soon", () => {
  expect(warned("hold", "a")).toEqual([]);
  expect(warned("hold", "b", lookupOf(page))).toEqual([]);
  for (const reason of ["settling", "interval", "progressing", "batch"] as const)
    expect(warned(reason, "b")).toEqual([]);
});

it("warns of annotations that an undo changed", () => {
  expect(warned("hold", "a", undefined, { changedByUndo: ["hold"] })).toMatchObject([{ reason: "AnnotationsLost" }]);
});

it("warns of restored pins without a copy, as long as the workload has them", () => {
  const lookup = lookupOf(page);
  const restored = { uid: "1", pinned, names: ["page"] };
  expect(warned(undefined, "a", lookup, { unrestored: restored })).toMatchObject([{ reason: "Unpinned" }]);
  for (const other of [{ uid: "2" }, { pinned: "page=page-0000000002" }])
    expect(warned(undefined, "a", lookup, { unrestored: { ...restored, ...other } })).toEqual([]);
});
