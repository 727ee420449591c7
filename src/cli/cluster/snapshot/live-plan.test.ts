import { expect, it } from "vitest";
import { configMap, defaultPolicy, workloadObject } from "../../../../test/support/domain/objects.ts";
import { changedAt, defaultFlags, noon, outdated } from "../../../../test/support/pacing/due.ts";
import { builtInKinds } from "../../../domain/model/kinds/apps-kinds.ts";
import { decide } from "../../../domain/plan/decide.ts";
import { configKey } from "../../../domain/references/references.ts";
import { worldOf } from "./live-plan.ts";

const keys = { state: "not requested", why: "" } as const;

/** Returns the plan at noon of a workload whose ConfigMap has a change time this many seconds later. */
function planned(seconds: number) {
  const config = changedAt(configMap("web", { a: "new" }), noon / 1000 + seconds);
  const policy = {
    ...defaultPolicy,
    pacing: { ...defaultFlags, maxConcurrent: 0 },
    keys,
    kinds: builtInKinds,
  } as const;
  const read = new Map([[configKey(config), { state: "present", config } as const]]);
  return decide(worldOf({ object: workloadObject(), workload: outdated() }, read, policy, noon));
}

it("settles by the times of the API, except those in the future", () => {
  expect(planned(0)).toMatchObject({ outcome: "held", hold: { reason: "settling", until: noon + 1_000 } });
  expect(planned(2)).toMatchObject({ outcome: "held", hold: { reason: "settling" } });
  expect(planned(3_600)).toMatchObject({ outcome: "roll" });
});
