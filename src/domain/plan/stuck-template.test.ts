import { expect, it } from "vitest";
import { configMap, defaultPolicy, lookupOf, pinnedCopy, workload } from "../../../test/support/domain/objects.ts";
import type { HoldReason } from "../outcomes/hold.ts";
import { planRollout, type RolloutPlan } from "./plan.ts";
import { warnOfStuckTemplate } from "./stuck-template.ts";

const policy = { ...defaultPolicy, pinConfig: true };
const copy = pinnedCopy("page-0000000001", { a: "1" });
const page = configMap("page", { a: "2", b: "2" });

/** Returns the warnings of a held plan of a pinned workload that reads this key. */
function warned(reason: HoldReason, key: string, lookup = lookupOf(page, copy)) {
  const env = [{ name: "A", valueFrom: { configMapKeyRef: { name: "page", key } } }];
  const web = workload({
    annotations: { "wave.pusher.com/pin-config": "true" },
    templateAnnotations: { "wave.pusher.com/config-hash": "v2:0", "wave.pusher.com/pinned": "page=page-0000000001" },
    pod: { containers: [{ name: "web", env }] },
  });
  const { reason: why, warnings, ...due } = planRollout(web, lookup, policy);
  if (due.outcome !== "firstHash") throw new Error(`the workload is ${due.outcome}`);
  const hold = { reason, message: "", until: undefined, warning: false };
  const plan: RolloutPlan = { outcome: "held", due, hold, reason: why, warnings };
  return warnOfStuckTemplate(plan, web, lookup, policy).warnings;
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
