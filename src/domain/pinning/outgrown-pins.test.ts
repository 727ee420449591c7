import { describe, expect, it } from "vitest";
import { configMap, defaultPolicy, lookupOf, pinnedCopy, workload } from "../../../test/support/domain/objects.ts";
import type { Workload } from "../model/workload.ts";
import { decide } from "../plan/decide.ts";
import { planRollout } from "../plan/plan.ts";
import { unpaced } from "../policy/pacing-flags.ts";

const now = Date.UTC(2026, 0, 6, 12);
const policy = { ...defaultPolicy, pinConfig: true, pacing: unpaced };

const podWith = (keys: readonly string[]) => {
  const env = keys.map((key) => ({ name: key, valueFrom: { configMapKeyRef: { name: "page", key, optional: true } } }));
  return { containers: [{ name: "web", env }] };
};
const recorded = planRollout(workload({ pod: podWith(["a"]) }), lookupOf(configMap("page", { a: "1" })), policy);

const templateWrittenAt = (at: number) => ({ revision: at, at, isFirst: false });

/** Plans a workload that was rolled at 10 s and now reads these keys; its copy has key `a`. */
function planned(keys: readonly string[], change: Partial<Workload> = {}, changedAt = 5, annotations = {}) {
  const of = workload({
    pod: podWith(keys),
    annotations: { "wave.pusher.com/pin-config": "true", "wave.pusher.com/window": "Tue 03:00-04:00", ...annotations },
    templateAnnotations: {
      "wave.pusher.com/config-hash": "hash" in recorded ? recorded.hash : "",
      "wave.pusher.com/pinned": "page=page-0000000001",
    },
  });
  const live = lookupOf(
    { ...configMap("page", { a: "1", b: "1" }), changedAt },
    pinnedCopy("page-0000000001", { a: "1" }),
  );
  const moment = { now, changes: undefined, lastWrite: undefined, progressSince: now };
  const plan = decide({
    workload: { ...of, rolledAt: 10, templateEditedAt: 20, templateWrite: templateWrittenAt(20), ...change },
    lookup: live,
    policy,
    moment,
  });
  return plan.outcome === "held" ? plan.hold.reason : plan.outcome;
}

describe("a pod template that reads keys that its copies lack", () => {
  it("is rolled at once, because its Pods are being replaced", () => {
    expect(planned(["a", "b"])).toBe("roll");
  });

  it.each<[string, () => string]>([
    ["its last write is not known", () => planned(["a", "b"], { templateWrite: undefined })],
    ["the last edit changed another field", () => planned(["a", "b"], { templateWrite: templateWrittenAt(4) })],
    ["only an annotation names more keys", () => planned(["a"], {}, 5, { "wave.pusher.com/extra-configmaps": "page" })],
    ["the ConfigMap changed after it", () => planned(["a", "b"], {}, 21)],
  ])("waits as any other workload if %s", (_when, plan) => {
    expect(plan()).toBe("window");
  });

  it("is current if its copies have all keys that exist", () => {
    expect(planned(["a", "missing"])).toBe("current");
  });

  it("waits for a person who holds the workload", () => {
    expect(planned(["a", "b"], {}, 5, { "wave.pusher.com/hold": "true" })).toBe("hold");
    expect(planned(["a", "b"], {}, 5, { "wave.pusher.com/mode": "approve" })).toBe("approval");
  });
});
