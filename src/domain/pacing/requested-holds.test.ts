import { describe, expect, it } from "vitest";
import { configMap, defaultPolicy, lookupOf, readsAll, workload } from "../../../test/support/domain/objects.ts";
import type { Config } from "../config/digest.ts";
import type { Workload } from "../model/workload.ts";
import { planRollout } from "../plan/plan.ts";
import { unpaced } from "../policy/pacing-flags.ts";
import type { Policy } from "../policy/policy.ts";
import type { PolicyAnnotations } from "../policy/policy-annotations.ts";
import { configHash } from "../references/annotations.ts";
import type { ConfigName } from "../references/references.ts";
import type { Moment } from "./moment.ts";

const before = configMap("web", { page: "1" });
const edited = configMap("web", { page: "2" });
const hashOf = (config: Config) => {
  const plan = planRollout(workload({ pod: readsAll("ConfigMap", "web") }), lookupOf(config), defaultPolicy);
  return "hash" in plan ? plan.hash : "";
};
const approvable = hashOf(edited).slice(3, 11);

function moment(now: string): Moment {
  return { now: Date.parse(now), changes: undefined, written: undefined, standsSince: 0, batch: undefined };
}

interface Given {
  readonly own?: PolicyAnnotations;
  readonly ofNamespace?: PolicyAnnotations;
  readonly flags?: Partial<Policy["pacing"]>;
  readonly config?: Config;
  readonly now?: string;
  readonly of?: Partial<Workload>;
}

/** A workload whose ConfigMap was edited, in the night of a Sunday. */
function planned({ own = {}, ofNamespace = {}, flags, config = edited, now = "2026-11-22T01:00:00Z", of }: Given) {
  const reader = workload({ pod: readsAll("ConfigMap", "web"), templateAnnotations: { [configHash]: hashOf(before) } });
  const policy: Policy = {
    ...defaultPolicy,
    pacing: { ...unpaced, ...flags },
    ofNamespace: () => ({ optsIn: false, annotations: ofNamespace }),
  };
  return planRollout({ ...reader, policy: own, ...of }, lookupOf(config), policy, undefined, moment(now));
}

const prefix = "annotation wave.pusher.com/";
const ofIts = " of its Namespace";
const forms = 'DAYS HH:MM-HH:MM and a time zone, such as "Mon-Fri 22:00-04:00 Europe/Berlin"; several by semicolons';
const unclear = "it waits until it is clear when to roll: ";
const night = "Mon-Fri 22:00-04:00 Europe/Berlin";
const outside = `(${JSON.stringify(night)}), which opens at 2026-11-23T21:00:00Z`;
const asksFor = `it waits for approval: ${prefix}approved: "${approvable}"`;

describe("what people ask for holds a roll", () => {
  it.each<[string, Given, string, string]>([
    ["hold", { own: { hold: "true" } }, "hold", `it is held by ${prefix}hold, until that is removed`],
    ["", { ofNamespace: { hold: " true " } }, "hold", `it is held by ${prefix}hold${ofIts}, until that is removed`],
    ["mode", { own: { mode: "observe" } }, "observed", `it is only observed, by ${prefix}mode`],
    ["", { ofNamespace: { mode: "observe" } }, "observed", `it is only observed, by ${prefix}mode${ofIts}`],
    ["", { flags: { observe: true }, own: { mode: "roll" } }, "observed", "it is only observed, by --observe"],
    ["", { own: { mode: "approve" } }, "approval", asksFor],
    ["", { own: { mode: "approve", approved: approvable.slice(0, 7) } }, "approval", asksFor],
    ["", { own: { mode: "approve", approved: "00000000" } }, "approval", `${asksFor}; what is approved is "00000000"`],
    // Approval is given on the workload: whoever may edit a Namespace does not approve for all in it.
    ["", { own: { mode: "approve" }, ofNamespace: { approved: approvable } }, "approval", asksFor],
    ["window", { own: { window: night } }, "window", `it is outside of ${prefix}window ${outside}`],
    ["", { ofNamespace: { window: night } }, "window", `it is outside of ${prefix}window${ofIts} ${outside}`],
    ["", { flags: { window: night } }, "window", `it is outside of --window ${outside}`],
    [
      "what cannot be read",
      { own: { window: "at night" } },
      "invalid",
      `${unclear}${prefix}window is "at night", not ${forms}`,
    ],
    [
      "",
      { ofNamespace: { hold: "yes" } },
      "invalid",
      `${unclear}${prefix}hold${ofIts} is "yes", not "true" or "false"`,
    ],
    [
      "",
      { own: { settle: "30", mode: "Approve" } },
      "invalid",
      `${unclear}${prefix}mode is "Approve", not "roll", "observe" or "approve" and ${prefix}settle is "30", not a duration up to 24h, such as "30s"`,
    ],
    [
      "",
      { own: { "min-interval": "1000h" } },
      "invalid",
      `${unclear}${prefix}min-interval is "1000h", not a duration up to 168h, such as "10m"`,
    ],
    ["", { own: { batches: "no" } }, "invalid", `${unclear}${prefix}batches is "no", not "on" or "off"`],
    [
      "",
      { own: { priority: "first" } },
      "invalid",
      `${unclear}${prefix}priority is "first", not a whole number, such as 10 or -10`,
    ],
    [
      "the ConfigMap's hold",
      { config: { ...edited, asks: "hold" } },
      "hold",
      `it is held by ${prefix}hold of ConfigMap "web", until that is removed`,
    ],
    [
      "",
      { config: { ...edited, asks: "unclear" } },
      "invalid",
      `${unclear}hold or ignore of ConfigMap "web" is neither "true" nor "false"`,
    ],
  ])("%s", (_, given, reason, message) => {
    const plan = planned(given);
    expect(plan).toMatchObject({ outcome: "held", hold: { reason, message, warning: reason === "invalid" } });
    if (plan.outcome !== "held") return;
    expect(plan.due.outcome).toBe("roll");
    expect(plan.hold.until).toBe(reason === "window" ? Date.parse("2026-11-23T21:00:00Z") : undefined);
  });

  it.each<[string, Given]>([
    ["nothing is asked for", {}],
    ["the window is open", { own: { window: night }, now: "2026-11-24T02:59:59Z" }],
    ["this hash is approved", { own: { mode: "approve", approved: approvable } }],
    [
      "this hash is approved in full and in capitals",
      { own: { mode: "approve", approved: hashOf(edited).slice(3).toUpperCase() } },
    ],
    ["the workload lifts its Namespace's hold", { own: { hold: "false" }, ofNamespace: { hold: "true" } }],
    ["the workload lifts its Namespace's mode", { own: { mode: "roll" }, ofNamespace: { mode: "observe" } }],
    [
      "the workload lifts its Namespace's mistake",
      { own: { window: "Sun 00:00-24:00" }, ofNamespace: { window: "?" } },
    ],
    [
      "the workload has a wider window than its Namespace",
      { own: { window: "Sun 00:00-24:00" }, ofNamespace: { window: night } },
    ],
    [
      "the Namespace has a wider window than the flag",
      { ofNamespace: { window: "Sun 00:00-24:00" }, flags: { window: night } },
    ],
    ["annotations are empty", { own: { hold: "", mode: "", window: "" } }],
    ["what cannot be read would only have released it", { own: { approved: "all", resumed: "now" } }],
  ])("but not where %s", (_, given) => {
    expect(planned(given)).toMatchObject({ outcome: "roll" });
  });

  it("not where it no longer reads the one that asks for no rolls, nor for a wave of that one's change", () => {
    const reads = (...names: readonly string[]) => ({
      containers: [{ name: "web", envFrom: names.map((name) => ({ configMapRef: { name } })) }],
    });
    const other = configMap("other", {});
    const configs = lookupOf({ ...edited, asks: "hold" }, other);
    const was = planRollout(workload({ pod: reads("web", "other") }), lookupOf(edited, other), defaultPolicy);
    if (!("view" in was)) throw new Error(was.outcome);
    const reader = workload({ pod: reads("other"), templateAnnotations: { [configHash]: was.view.hash } });
    const lines: (readonly ConfigName[])[] = [];
    const batch = (_: Workload, objects: readonly ConfigName[]) => {
      lines.push(objects);
      return undefined;
    };
    const policy = { ...defaultPolicy, pacing: { ...unpaced, maxConcurrent: 1 } };
    const complete = { ...reader, progress: { state: "complete", since: undefined } } as const;
    const plan = planRollout(complete, configs, policy, was.view, { ...moment("2026-11-23T12:00:00Z"), batch });
    expect([plan.outcome, lines]).toEqual(["roll", [[]]]);
  });

  it("not where another object changed too, than the one that asks for no rolls", () => {
    const pod = {
      containers: [{ name: "web", envFrom: ["web", "other"].map((name) => ({ configMapRef: { name } })) }],
    };
    const held: Config = { ...edited, asks: "hold" };
    const plan = (seen: readonly Config[], now: readonly Config[], watched: boolean) => {
      const was = planRollout(workload({ pod }), lookupOf(...seen), defaultPolicy);
      if (!("view" in was)) throw new Error(was.outcome);
      const reader = workload({ pod, templateAnnotations: { [configHash]: was.view.hash } });
      const policy = { ...defaultPolicy, pacing: unpaced };
      const rolled = { ...reader, rolledAt: 1_000 };
      return planRollout(
        rolled,
        lookupOf(...now),
        policy,
        watched ? was.view : undefined,
        moment("2026-11-22T01:00:00Z"),
      );
    };
    const other = (value: string, changedAt: number) => ({ ...configMap("other", { value }), changedAt });
    const at = (config: Config, changedAt: number) => ({ ...config, changedAt });
    for (const watched of [true, false]) {
      const seen = [at(before, 900), other("1", 900)];
      expect(plan(seen, [at(held, 1_100), other("1", 900)], watched)).toMatchObject({ outcome: "held" });
      expect(plan(seen, [at(held, 1_100), other("2", 1_200)], watched)).toMatchObject({ outcome: "roll" });
    }
  });

  it("nor Pods that wait behind their scheduling hold, but for those that are only observed", () => {
    const schedulingHeld = { of: { schedulerName: "wave.pusher.com/invalid", disabledScheduler: "" } };
    expect(
      planned({ ...schedulingHeld, own: { hold: "true", window: night, mode: "approve", settle: "?" } }).outcome,
    ).not.toBe("held");
    expect(planned({ ...schedulingHeld, own: { mode: "observe" } })).toMatchObject({ hold: { reason: "observed" } });
  });
});
