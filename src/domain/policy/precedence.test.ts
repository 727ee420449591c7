import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { configMap, defaultPolicy, lookupOf, workload } from "../../../test/support/domain/objects.ts";
import { momentAt } from "../../../test/support/pacing/due.ts";
import type { Config } from "../config/digest.ts";
import { planRollout } from "../plan/plan.ts";
import { toNamespacePolicy } from "./namespace-policy.ts";
import { type PacingFlags, unpaced } from "./pacing-flags.ts";
import { userAnnotations } from "./user-annotations.ts";

type Annotations = Readonly<Record<string, string>>;

const prefix = "wave.pusher.com/";
const batch = (names: Annotations): Annotations =>
  Object.fromEntries(Object.entries(names).map(([name, value]) => [prefix + name, value]));

/** A Sunday. */
const now = Date.parse("2026-11-22T01:00:00Z");
const elsewhere = { reason: "batch", message: "others go first", until: undefined, warning: false } as const;

/** Two ConfigMaps that a workload reads, as its Pods see them. */
const was: readonly Config[] = [configMap("web", { a: "1" }), configMap("other", { a: "1" })];
const pod = { containers: [{ name: "web", envFrom: ["web", "other"].map((name) => ({ configMapRef: { name } })) }] };
const seen = planRollout(workload({ pod }), lookupOf(...was), defaultPolicy);
if (!("view" in seen)) throw new Error(seen.outcome);
const { view } = seen;

interface World {
  readonly own?: Annotations;
  readonly namespacePolicyOf?: Annotations;
  readonly flags?: Partial<PacingFlags>;
  readonly configs: readonly Config[];
  /** Whether others are to go first with this change. */
  readonly inLine?: boolean;
}

function planned({ own = {}, namespacePolicyOf = {}, flags, configs, inLine = false }: World) {
  const templateAnnotations = { "wave.pusher.com/config-hash": view.hash };
  const asked = workload({ pod, annotations: batch(own), templateAnnotations });
  const namespace = toNamespacePolicy({ metadata: { name: "default", annotations: batch(namespacePolicyOf) } });
  const pacing = { ...unpaced, maxConcurrent: inLine ? 50 : 0, ...flags };
  const policy = { ...defaultPolicy, pacing, namespacePolicyOf: () => namespace };
  const moment = momentAt(now, { batch: () => (inLine ? elsewhere : undefined) });
  return planRollout({ ...asked, rolledAt: 1 }, lookupOf(...configs), policy, view, moment);
}

const edited = (annotations: Annotations = {}, value = "2") => [
  configMap("web", { a: value }, { annotations: batch(annotations) }),
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

/** Everything that may stand on anything, with values that would let a roll happen. */
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
  ["a Namespace's hold", { namespacePolicyOf: { hold: "true" } }],
  ["approval", { own: { mode: "approve" } }],
  ["a Namespace's approval", { namespacePolicyOf: { mode: "approve" } }],
  ["observation", { own: { mode: "observe" } }],
  ["--observe", { flags: { observe: true } }],
  ["a window", { own: { window: "Mon 00:00-24:00" } }],
  ["a Namespace's window", { namespacePolicyOf: { window: "Mon 00:00-24:00" } }],
  ["--window", { flags: { window: "Mon 00:00-24:00" } }],
  ["waves", { inLine: true }],
  ["what cannot be read", { own: { window: "at night" } }],
];

describe("whoever may edit ConfigMaps and Secrets alone", () => {
  it.each(protections)("cannot switch off %s of a workload", (_, protection) => {
    expect(reasonOf({ ...protection, configs: edited() })).not.toBe("roll");
    fc.assert(
      fc.property(letting, fc.constantFrom("2", "3"), (annotations, value) => {
        // Where the object is ignored by now, nothing is due: then a baseline is noted, which replaces no Pod.
        expect(planned({ ...protection, configs: edited(annotations, value) }).outcome).not.toBe("roll");
      }),
    );
  });

  it("can have nobody rolled for that object, and for no other", () => {
    expect(reasonOf({ configs: edited({ hold: "true" }) })).toBe("hold");
    expect(reasonOf({ configs: edited({ ignore: "true" }) })).toBe("recorded");
    const both = (annotations: Annotations) => [...edited(annotations).slice(0, 1), configMap("other", { a: "2" })];
    expect(reasonOf({ configs: both({ hold: "true" }) })).toBe("roll");
    expect(reasonOf({ configs: both({ ignore: "true" }) })).toBe("roll");
  });

  it("cannot have something else rolled by what was approved for this, neither before it was rolled nor after", () => {
    const own = { mode: "approve", approved: digits(edited()).slice(0, 8) };
    expect(reasonOf({ own, configs: edited() })).toBe("roll");
    expect(reasonOf({ own, configs: edited({}, "3") })).toBe("approval");
    // As if somebody had found another configuration whose hash begins with what was rolled.
    const rolled = { mode: "approve", approved: view.hash.slice(3, 11) };
    const plan = planned({ own: rolled, configs: edited() });
    expect(plan).toMatchObject({ outcome: "held", hold: { reason: "approval" } });
  });
});

describe("whoever may edit a Namespace", () => {
  it("decides for all workloads that do not say otherwise", () => {
    const configs = edited();
    expect(reasonOf({ namespacePolicyOf: { hold: "true" }, configs })).toBe("hold");
    expect(
      reasonOf({ namespacePolicyOf: { window: "Sun 00:00-24:00" }, flags: { window: "Mon 00:00-24:00" }, configs }),
    ).toBe("roll");
    expect(reasonOf({ namespacePolicyOf: { batches: "off" }, inLine: true, configs })).toBe("roll");
  });

  it.each(protections.filter(([, { own }]) => own !== undefined))(
    "cannot switch off %s that a workload says itself",
    (_, protection) => {
      fc.assert(
        fc.property(letting, (namespacePolicyOf) => {
          expect(planned({ ...protection, namespacePolicyOf, configs: edited() }).outcome).not.toBe("roll");
        }),
      );
    },
  );

  it("cannot approve for a workload, nor switch off --observe", () => {
    const namespacePolicyOf = { mode: "approve", approved: digits(edited()) };
    expect(reasonOf({ namespacePolicyOf, configs: edited() })).toBe("approval");
    expect(reasonOf({ namespacePolicyOf: { mode: "roll" }, flags: { observe: true }, configs: edited() })).toBe(
      "observed",
    );
  });
});

describe("whoever may edit a workload", () => {
  it.each(protections.filter(([, { own }]) => own === undefined))(
    "decides on %s, but for --observe",
    (name, protection) => {
      const own = { hold: "false", mode: "roll", window: "Sun 00:00-24:00", waves: "off" };
      expect(reasonOf({ ...protection, own, configs: edited() })).toBe(name === "--observe" ? "observed" : "roll");
    },
  );
});
