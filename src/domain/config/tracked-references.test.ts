import { describe, expect, it } from "vitest";
import { planRollout } from "../../../test/support/domain/decisions.ts";
import { defaultPolicy, lookupOf, secret, workload } from "../../../test/support/domain/objects.ts";
import type { Policy } from "../policy/policy.ts";
import { rulesFor } from "../policy/rules.ts";
import type { Config } from "./digest.ts";
import { objectsToRead } from "./tracked-references.ts";

const annotations = { "wave.pusher.com/extra-secrets": "other/db, own" };
const object = workload({ annotations });
const own = secret("own", { a: "1" });

function foreign(grant?: string, value = "1"): Config {
  const annotations = grant === undefined ? {} : { "wave.pusher.com/shared-with": grant };
  return secret("db", { a: value }, { namespace: "other", annotations });
}

function plan(policy: Partial<Policy>, ...others: ReturnType<typeof foreign>[]) {
  return planRollout(object, lookupOf(own, ...others), { ...defaultPolicy, ...policy });
}

function isTracked(decided: ReturnType<typeof planRollout>): boolean {
  return "view" in decided && decided.view.entries.some(({ namespace }) => namespace === "other");
}

describe("a reference into another namespace", () => {
  it.each(["default", "a, default", "*"])("is tracked if the object is shared with %j", (grant) => {
    const decided = plan({}, foreign(grant));
    expect(isTracked(decided)).toBe(true);
    expect(decided.warnings).toEqual([]);
  });

  it.each([undefined, "", "elsewhere", "default2"])("waits if the object is shared with %j", (grant) => {
    const decided = plan({}, foreign(grant));
    expect(decided).toMatchObject({ outcome: "waiting", reason: 'waiting for Secret "other/db"' });
    expect(decided.warnings).toEqual([
      {
        reason: "CrossNamespaceRefused",
        message:
          'Secret "other/db": missing, or not shared with this namespace. Check the name, or set annotation wave.pusher.com/shared-with: "default" on the object.',
      },
    ]);
  });

  it("causes no rollout when the object or its grant is removed and restored", () => {
    const before = plan({}, foreign("default"));
    const templateAnnotations = { "wave.pusher.com/config-hash": "hash" in before ? before.hash : "" };
    const recorded = workload({ annotations, templateAnnotations });
    const outcomeWith = (...configs: Config[]) =>
      planRollout(recorded, lookupOf(own, ...configs), defaultPolicy).outcome;
    expect(outcomeWith()).toBe("waiting");
    expect(outcomeWith(foreign())).toBe("waiting");
    expect(outcomeWith(foreign("default"))).toBe("current");
    expect(outcomeWith(foreign("default", "2"))).toBe("roll");
  });

  it("has one warning for all refused objects", () => {
    const names = Array.from({ length: 500 }, (_, i) => `other/db-${i}`);
    const many = workload({ annotations: { "wave.pusher.com/extra-secrets": names.join() } });
    const { warnings } = planRollout(many, lookupOf(), defaultPolicy);
    expect(warnings).toEqual([
      {
        reason: "CrossNamespaceRefused",
        message: expect.stringMatching(/^Secret "other\/db-0", .* and 495 more: missing, or not shared/),
      },
    ]);
  });

  it("does not reveal whether an object without a grant exists or changes", () => {
    const absent = plan({});
    expect(plan({}, foreign())).toEqual(absent);
    expect(plan({}, foreign(undefined, "2"))).toEqual(absent);
    expect(plan({}, foreign("elsewhere"))).toEqual(absent);
  });

  it("is tracked without a grant if the policy allows any", () => {
    expect(isTracked(plan({ crossNamespace: "any" }, foreign()))).toBe(true);
    expect(plan({ crossNamespace: "any" })).toMatchObject({
      outcome: "waiting",
      reason: 'waiting for Secret "other/db"',
    });
  });

  it("is ignored if the policy allows none", () => {
    const decided = plan({ crossNamespace: "none" }, foreign("*"));
    expect(isTracked(decided)).toBe(false);
    expect(decided.warnings).toMatchObject([{ message: expect.stringContaining("--cross-namespace=none") }]);
  });

  it.each(["granted", "any"] as const)("is ignored if Wave does not watch that namespace (%s)", (crossNamespace) => {
    const decided = plan({ crossNamespace, namespaces: ["default"] }, foreign("*"));
    expect(isTracked(decided)).toBe(false);
    expect(decided.warnings).toMatchObject([
      { message: expect.stringMatching(/^Secret "other\/db": .*does not watch/) },
    ]);
  });
});

describe("objectsToRead", () => {
  it("returns each object once, without objects that the policy refuses", () => {
    const db = { kind: "Secret", namespace: "other", name: "db" };
    const mine = { kind: "Secret", namespace: "default", name: "own" };
    expect(objectsToRead(object, rulesFor(object, defaultPolicy))).toEqual([mine, db]);
    expect(objectsToRead(object, rulesFor(object, { ...defaultPolicy, crossNamespace: "none" }))).toEqual([mine]);
  });

  it("leaves out invalid object names", () => {
    const names = ["a/b", "../x?y#z", "a b", "%2e%2e", "A_b", "x".repeat(254), "fine.name-1"];
    const volumes = names.map((secretName, i) => ({ name: `v${i}`, secret: { secretName } }));
    const fine = { kind: "Secret", namespace: "default", name: "fine.name-1" };
    const of = workload({ pod: { volumes } });
    expect(objectsToRead(of, rulesFor(of, defaultPolicy))).toEqual([fine]);
  });
});
