import { describe, expect, it } from "vitest";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  pinnedCopy,
  readsAll,
  workload,
} from "../../../test/support/domain/objects.ts";
import type { Workload } from "../model/workload.ts";
import type { HoldReason } from "../outcomes/hold.ts";
import { rejectionDigest } from "../pinning/rejections.ts";
import { unpaced } from "../policy/pacing-flags.ts";
import { planLostCopies, type StuckPins } from "./lost-copy-plan.ts";
import { planRollout, type RolloutPlan } from "./plan.ts";

const policy = { ...defaultPolicy, pinConfig: true, pacing: unpaced };
const pod = readsAll("ConfigMap", "page");
const moment = { now: Date.UTC(2026, 0, 1), changes: undefined, lastWrite: undefined, progressSince: 0 };
const hashOf = (page: string) => {
  const plan = planRollout(workload({ pod }), lookupOf(configMap("page", { a: page })), policy);
  return "hash" in plan ? plan.hash : "";
};
/** The live content is 3. The Pods read the copy of 2, which is lost. */
const lookup = lookupOf(configMap("page", { a: "3" }), pinnedCopy("page-0000000001", { a: "1" }));
const pinned = "page=page-0000000002";
const earlier: StuckPins = { pinned, earlier: new Map([["page", "page-0000000001"]]) };
const noEarlier: StuckPins = { pinned, earlier: new Map([["page", undefined]]) };

function web(annotations: Record<string, string> = {}): Workload {
  return workload({
    pod,
    annotations: { "wave.pusher.com/pin-config": "true", ...annotations },
    templateAnnotations: { "wave.pusher.com/config-hash": hashOf("2"), "wave.pusher.com/pinned": pinned },
  });
}

function heldBy(reason: HoldReason): RolloutPlan {
  const { reason: why, warnings, ...due } = planRollout(web(), lookup, policy);
  if (due.outcome !== "roll") throw new Error("the workload must be due");
  const hold = { reason, message: "", until: undefined, warning: false };
  return { outcome: "held", due, hold, reason: why, warnings };
}

const planned = (plan: RolloutPlan, stuck: StuckPins | undefined, of = web()) =>
  planLostCopies(plan, stuck, of, lookup, policy, undefined, moment);

describe("a workload with a Pod that cannot start without a lost copy", () => {
  it.for(["hold", "approval", "halted", "window", "batch"] as const)(
    "is rolled once to the earlier copy while its change is held: %s",
    (reason) => {
      expect(planned(heldBy(reason), earlier)).toMatchObject({
        outcome: "roll",
        hash: hashOf("1"),
        returns: { cause: "lostCopy", pinned: "page=page-0000000001", rejected: undefined, names: ["page"] },
      });
    },
  );

  it.for(["window", "batch"] as const)("is rolled to live configuration without an earlier copy: %s", (reason) => {
    expect(planned(heldBy(reason), noEarlier)).toMatchObject({
      outcome: "roll",
      hash: hashOf("3"),
      returns: { pinned: "" },
    });
  });

  it.for(["hold", "approval", "halted"] as const)("is not rolled to a change that may reach no Pod: %s", (reason) => {
    const plan = heldBy(reason);
    expect(planned(plan, noEarlier)).toBe(plan);
  });

  it.for(["observed", "clusterHold", "invalid", "settling", "interval", "progressing"] as const)(
    "is not rolled if no rollout is wanted, or if one follows soon: %s",
    (reason) => {
      const plan = heldBy(reason);
      expect(planned(plan, earlier)).toBe(plan);
    },
  );

  it("is rolled to the earlier copy instead of to rejected content", () => {
    const rejected = `page=${rejectionDigest(web(), lookup, "page")}`;
    const of = web({ "wave.pusher.com/rejected-configmaps": rejected });
    const plan = planRollout(of, lookup, policy);
    expect(plan).toMatchObject({ outcome: "roll", hash: hashOf("3") });
    expect(planned(plan, earlier, of)).toMatchObject({ hash: hashOf("1"), returns: { rejected } });
  });

  it("is rolled only while its pod template names the lost copy, and to a copy that exists", () => {
    const plan = heldBy("hold");
    expect(planned(plan, undefined)).toBe(plan);
    expect(planned(plan, { ...earlier, pinned: "page=page-0000000009" })).toBe(plan);
    expect(planned(plan, { pinned, earlier: new Map([["page", "page-0000000005"]]) })).toBe(plan);
  });
});
