import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decide, planRollout } from "../../../test/support/domain/decisions.ts";
import { configMap, defaultPolicy, lookupOf, unpaced, workload } from "../../../test/support/domain/objects.ts";
import { momentAt } from "../../../test/support/pacing/due.ts";
import type { Config } from "../config/digest.ts";
import { userAnnotations } from "./annotation-mistakes.ts";
import { type PacingFlags, toNamespacePolicy } from "./policy.ts";

type Annotations = Readonly<Record<string, string>>;

const prefix = "wave.pusher.com/";
const prefixed = (names: Annotations): Annotations =>
  Object.fromEntries(Object.entries(names).map(([name, value]) => [prefix + name, value]));

/** A Sunday. */
const now = Date.parse("2026-11-22T01:00:00Z");
const elsewhere = { reason: "batch", message: "others go first", until: undefined, warning: false } as const;

/** Two ConfigMaps that a workload reads, in the state that its Pods have. */
const was: readonly Config[] = [configMap("web", { a: "1" }), configMap("other", { a: "1" })];
const pod = { containers: [{ name: "web", envFrom: ["web", "other"].map((name) => ({ configMapRef: { name } })) }] };
const seen = planRollout(workload({ pod }), lookupOf(...was), defaultPolicy);
if (!("view" in seen)) throw new Error(seen.outcome);
const { view } = seen;

interface World {
  readonly own?: Annotations;
  readonly ofNamespace?: Annotations;
  readonly flags?: Partial<PacingFlags>;
  readonly configs: readonly Config[];
  /** Whether other workloads roll first for this change. */
  readonly inLine?: boolean;
}

function planned({ own = {}, ofNamespace = {}, flags, configs, inLine = false }: World) {
  const templateAnnotations = { "wave.pusher.com/config-hash": view.hash };
  const current = workload({ pod, annotations: prefixed(own), templateAnnotations });
  const namespace = toNamespacePolicy({ metadata: { name: "default", annotations: prefixed(ofNamespace) } });
  const pacing = { ...unpaced, maxConcurrent: inLine ? 50 : 0, ...flags };
  const policy = { ...defaultPolicy, pacing, namespacePolicyOf: () => namespace };
  return decide({
    workload: { ...current, rolledAt: 1 },
    lookup: lookupOf(...configs),
    policy,
    previous: view,
    moment: momentAt(now),
    batchHold: () => (inLine ? elsewhere : undefined),
  });
}

const edited = (annotations: Annotations = {}, value = "2") => [
  configMap("web", { a: value }, { annotations: prefixed(annotations) }),
  configMap("other", { a: "1" }),
];
const digits = (configs: readonly Config[]) => {
  const plan = planRollout(workload({ pod }), lookupOf(...configs), defaultPolicy);
  return "hash" in plan ? plan.hash.slice(3) : "";
};
const reasonOf = (world: World) => {
  const plan = planned(world);
  return plan.outcome === "held" ? plan.hold.reason : plan.outcome;
};

/** Every annotation on every object, with values that allow a rollout. */
const letting = fc.record(
  {
    ...Object.fromEntries(Object.keys(userAnnotations).map((name) => [name, fc.constantFrom("true", "false", "*")])),
    hold: fc.constantFrom("false", "", "off"),
    mode: fc.constantFrom("roll", ""),
    approved: fc.constantFrom(digits(edited()), digits(edited()).slice(0, 8)),
    window: fc.constantFrom("Sun 00:00-24:00", ""),
    batches: fc.constant("off"),
    priority: fc.constant("999999999"),
    resumed: fc.constant("2026-11-22T00:59:59Z"),
    ignore: fc.constantFrom("true", "false", "?"),
  },
  { requiredKeys: [] },
);

const protections: readonly (readonly [string, Omit<World, "configs">])[] = [
  ["a hold", { own: { hold: "true" } }],
  ["a Namespace's hold", { ofNamespace: { hold: "true" } }],
  ["approval", { own: { mode: "approve" } }],
  ["a Namespace's approval", { ofNamespace: { mode: "approve" } }],
  ["observation", { own: { mode: "observe" } }],
  ["--observe", { flags: { observe: true } }],
  ["a window", { own: { window: "Mon 00:00-24:00" } }],
  ["a Namespace's window", { ofNamespace: { window: "Mon 00:00-24:00" } }],
  ["--window", { flags: { window: "Mon 00:00-24:00" } }],
  ["batches", { inLine: true }],
  ["an invalid annotation", { own: { window: "at night" } }],
];

describe("a user who can edit only ConfigMaps and Secrets", () => {
  it.each(protections)("cannot switch off %s of a workload", (_, protection) => {
    expect(reasonOf({ ...protection, configs: edited() })).not.toBe("roll");
    fc.assert(
      fc.property(letting, fc.constantFrom("2", "3"), (annotations, value) => {
        // If the object is ignored now, nothing is due. Wave then records the configuration, which replaces no Pod.
        expect(planned({ ...protection, configs: edited(annotations, value) }).outcome).not.toBe("roll");
      }),
    );
  });

  it("can stop rollouts for that object, and for no other object", () => {
    expect(reasonOf({ configs: edited({ hold: "true" }) })).toBe("hold");
    expect(reasonOf({ configs: edited({ ignore: "true" }) })).toBe("recorded");
    const both = (annotations: Annotations) => [...edited(annotations).slice(0, 1), configMap("other", { a: "2" })];
    expect(reasonOf({ configs: both({ hold: "true" }) })).toBe("roll");
    expect(reasonOf({ configs: both({ ignore: "true" }) })).toBe("roll");
  });

  it("cannot use an approval for another configuration, neither before its rollout nor after", () => {
    const own = { mode: "approve", approved: digits(edited()).slice(0, 8) };
    expect(reasonOf({ own, configs: edited() })).toBe("roll");
    expect(reasonOf({ own, configs: edited({}, "3") })).toBe("approval");
    // As if another configuration had a hash that begins with the digits of the previous one.
    const rolled = { mode: "approve", approved: view.hash.slice(3, 11) };
    const plan = planned({ own: rolled, configs: edited() });
    expect(plan).toMatchObject({ outcome: "held", hold: { reason: "approval" } });
  });
});

describe("a user who can edit a Namespace", () => {
  it("decides for all workloads without their own annotations", () => {
    const configs = edited();
    expect(reasonOf({ ofNamespace: { hold: "true" }, configs })).toBe("hold");
    expect(
      reasonOf({ ofNamespace: { window: "Sun 00:00-24:00" }, flags: { window: "Mon 00:00-24:00" }, configs }),
    ).toBe("roll");
    expect(reasonOf({ ofNamespace: { batches: "off" }, inLine: true, configs })).toBe("roll");
  });

  it.each(protections.filter(([, { own }]) => own !== undefined))(
    "cannot switch off %s of a workload",
    (_, protection) => {
      fc.assert(
        fc.property(letting, (ofNamespace) => {
          expect(planned({ ...protection, ofNamespace, configs: edited() }).outcome).not.toBe("roll");
        }),
      );
    },
  );

  it("cannot approve for a workload, nor switch off --observe", () => {
    const ofNamespace = { mode: "approve", approved: digits(edited()) };
    expect(reasonOf({ ofNamespace, configs: edited() })).toBe("approval");
    expect(reasonOf({ ofNamespace: { mode: "roll" }, flags: { observe: true }, configs: edited() })).toBe("observed");
  });
});

describe("a user who can edit a workload", () => {
  it.each(protections.filter(([, { own }]) => own === undefined))(
    "overrides %s, except --observe",
    (name, protection) => {
      const own = { hold: "false", mode: "roll", window: "Sun 00:00-24:00", batches: "off" };
      expect(reasonOf({ ...protection, own, configs: edited() })).toBe(name === "--observe" ? "observed" : "roll");
    },
  );
});
