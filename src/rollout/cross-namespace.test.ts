import { describe, expect, it } from "vitest";
import { objectsToRead } from "./cross-namespace.ts";
import { planRollout } from "./plan.ts";
import type { Policy } from "./policy.ts";
import { defaultPolicy, lookupOf, secret, workload } from "./test-objects.ts";

const object = workload({ annotations: { "wave.pusher.com/extra-secrets": "other/db, own" } });
const own = secret("own", { a: "1" });

function foreign(grant?: string, value = "1") {
  const annotations = grant === undefined ? {} : { "wave.pusher.com/shared-with": grant };
  return secret("db", { a: value }, { namespace: "other", annotations });
}

function plan(policy: Partial<Policy>, ...others: ReturnType<typeof foreign>[]) {
  return planRollout(object, lookupOf(own, ...others), { ...defaultPolicy, ...policy });
}

function counted(decided: ReturnType<typeof planRollout>): boolean {
  return "view" in decided && decided.view.entries.some(({ namespace }) => namespace === "other");
}

describe("a reference into another namespace", () => {
  it.each(["default", "a, default", "*"])("counts where the object is shared with %j", (grant) => {
    const decided = plan({}, foreign(grant));
    expect(counted(decided)).toBe(true);
    expect(decided.warnings).toEqual([]);
  });

  it.each([undefined, "", "elsewhere", "default2"])("does not count where the object is shared with %j", (grant) => {
    const decided = plan({}, foreign(grant));
    expect(decided.outcome).toBe("baseline");
    expect(counted(decided)).toBe(false);
    expect(decided.warnings).toMatchObject([{ reason: "CrossNamespaceRefused" }]);
  });

  it("tells nothing of an object that is not shared: neither whether it exists nor whether it changes", () => {
    const absent = plan({});
    expect(plan({}, foreign())).toEqual(absent);
    expect(plan({}, foreign(undefined, "2"))).toEqual(absent);
    expect(plan({}, foreign("elsewhere"))).toEqual(absent);
  });

  it("counts without a grant where the policy allows any, and is waited for", () => {
    expect(counted(plan({ crossNamespace: "any" }, foreign()))).toBe(true);
    expect(plan({ crossNamespace: "any" })).toMatchObject({
      outcome: "waiting",
      reason: 'waiting for Secret "other/db"',
    });
  });

  it("never counts where the policy allows none", () => {
    const decided = plan({ crossNamespace: "none" }, foreign("*"));
    expect(counted(decided)).toBe(false);
    expect(decided.warnings).toMatchObject([{ message: expect.stringContaining("--cross-namespace=none") }]);
  });

  it.each(["granted", "any"] as const)(
    "never counts where Wave does not watch that namespace (%s)",
    (crossNamespace) => {
      const decided = plan({ crossNamespace, namespaces: ["default"] }, foreign("*"));
      expect(counted(decided)).toBe(false);
      expect(decided.warnings).toMatchObject([
        { message: expect.stringContaining('does not watch namespace "other"') },
      ]);
    },
  );
});

describe("objectsToRead", () => {
  it("names each object once, and none that the policy refuses whatever it says", () => {
    const db = { kind: "Secret", namespace: "other", name: "db" };
    const mine = { kind: "Secret", namespace: "default", name: "own" };
    expect(objectsToRead(object, defaultPolicy)).toEqual([mine, db]);
    expect(objectsToRead(object, { ...defaultPolicy, crossNamespace: "none" })).toEqual([mine]);
  });
});
