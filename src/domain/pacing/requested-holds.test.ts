import { describe, expect, it } from "vitest";
import { decide, planRollout } from "../../../test/support/domain/decisions.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  readsAll,
  unpaced,
  workload,
} from "../../../test/support/domain/objects.ts";
import type { Config } from "../config/digest.ts";
import type { Workload } from "../model/workload-shape.ts";
import { type Policy, toNamespacePolicy } from "../policy/policy.ts";
import { type PolicyAnnotation, type PolicyAnnotations, policyRows } from "../policy/policy-rows.ts";
import { configHash } from "../references/annotations.ts";
import type { Moment } from "./moment.ts";

const before = configMap("web", { page: "1" });
const edited = configMap("web", { page: "2" });
const hashOf = (config: Config) => {
  const plan = planRollout(workload({ pod: readsAll("ConfigMap", "web") }), lookupOf(config), defaultPolicy);
  return "hash" in plan ? plan.hash : "";
};
const approvable = hashOf(edited).slice(3, 11);

function moment(now: string): Moment {
  return { now: Date.parse(now), changes: undefined, lastWrite: undefined, progressSince: 0 };
}

interface Given {
  readonly own?: PolicyAnnotations;
  readonly ofNamespace?: PolicyAnnotations;
  readonly flags?: Partial<Policy["pacing"]>;
  readonly config?: Config;
  readonly now?: string;
  readonly of?: Partial<Workload>;
}

/** Returns the plan of a workload whose ConfigMap was edited, in the night of a Sunday. */
function planned({ own = {}, ofNamespace = {}, flags, config = edited, now = "2026-11-22T01:00:00Z", of }: Given) {
  const reader = workload({ pod: readsAll("ConfigMap", "web"), templateAnnotations: { [configHash]: hashOf(before) } });
  const policy: Policy = {
    ...defaultPolicy,
    pacing: { ...unpaced, ...flags },
    namespacePolicyOf: () => ({ ...toNamespacePolicy({}), annotations: ofNamespace }),
  };
  return decide({
    workload: { ...reader, policy: own, ...of },
    lookup: lookupOf(config),
    policy,
    moment: moment(now),
  });
}

const prefix = "annotation wave.pusher.com/";
const night = "Mon-Fri 22:00-04:00 Europe/Berlin";
const outside = `Rollout held until 2026-11-23T21:00:00Z (Mon 22:00 Europe/Berlin): outside window ${JSON.stringify(night)}, set by`;
const run = (command: string) => `Run: wave ${command} deployment/web -n default`;
const approve = `${run("approve")}, or set ${prefix}approved: "${approvable}".`;
const asksFor = `Waiting for approval of hash ${approvable}. ${approve}`;
const invalid = (problems: string) => `Rollout held: ${problems}. Set a valid value.`;
const observed = `Rollout held by ${prefix}mode`;
const anotherMode = '"observe". To allow rollouts, set another mode.';
const noFlag = "Rollout held: Wave runs with --observe and writes nothing. To allow rollouts, remove --observe.";
/** Returns the allowed values of an annotation, as in the message. */
const allowed = (annotation: PolicyAnnotation) => policyRows[annotation].allowed;

describe("a request of a person holds a rollout", () => {
  it.each<[string, Given, string, string]>([
    ["hold", { own: { hold: "true" } }, "hold", `Rollout held by ${prefix}hold. ${run("release")}.`],
    [
      "hold on the Namespace",
      { ofNamespace: { hold: " true " } },
      "hold",
      `Rollout held by ${prefix}hold on Namespace "default". Run: wave release namespace/default.`,
    ],
    ["mode", { own: { mode: "observe" } }, "observed", `${observed}: ${anotherMode}`],
    ["", { ofNamespace: { mode: "observe" } }, "observed", `${observed} on Namespace: ${anotherMode}`],
    ["--observe", { flags: { observe: true }, own: { mode: "roll" } }, "observed", noFlag],
    ["approval", { own: { mode: "approve" } }, "approval", asksFor],
    ["", { own: { mode: "approve", approved: approvable.slice(0, 7) } }, "approval", asksFor],
    [
      "approval of another hash",
      { own: { mode: "approve", approved: "00000000" } },
      "approval",
      `Waiting for approval of hash ${approvable}; approved is "00000000". ${approve}`,
    ],
    // Approval is set on the workload: an editor of the Namespace cannot approve for all workloads in it.
    ["", { own: { mode: "approve" }, ofNamespace: { approved: approvable } }, "approval", asksFor],
    ["window", { own: { window: night } }, "window", `${outside} ${prefix}window.`],
    ["", { ofNamespace: { window: night } }, "window", `${outside} ${prefix}window on Namespace.`],
    ["", { flags: { window: night } }, "window", `${outside} --window.`],
    [
      "an invalid value",
      { own: { window: "at night" } },
      "invalid",
      invalid(`${prefix}window is "at night", not ${allowed("window")}`),
    ],
    [
      "",
      { ofNamespace: { hold: "yes" } },
      "invalid",
      invalid(`${prefix}hold on Namespace is "yes", not ${allowed("hold")}`),
    ],
    [
      "",
      { own: { settle: "30", mode: "Approve" } },
      "invalid",
      invalid(
        `${prefix}mode is "Approve", not ${allowed("mode")} and ${prefix}settle is "30", not ${allowed("settle")}`,
      ),
    ],
    [
      "",
      { own: { "min-interval": "1000h" } },
      "invalid",
      invalid(`${prefix}min-interval is "1000h", not ${allowed("min-interval")}`),
    ],
    ["", { own: { batches: "no" } }, "invalid", invalid(`${prefix}batches is "no", not ${allowed("batches")}`)],
    [
      "",
      { own: { priority: "first" } },
      "invalid",
      invalid(`${prefix}priority is "first", not ${allowed("priority")}`),
    ],
    [
      "the hold of a ConfigMap",
      { config: { ...edited, directive: "hold" } },
      "hold",
      `Rollout held by ${prefix}hold on ConfigMap "web". Run: wave release configmap/web -n default.`,
    ],
    [
      "",
      { config: { ...edited, directive: "unclear" } },
      "invalid",
      invalid('annotation hold or ignore on ConfigMap "web" is neither "true" nor "false"'),
    ],
  ])("%s", (_, given, reason, message) => {
    const plan = planned(given);
    expect(plan).toMatchObject({ outcome: "held", hold: { reason, message, warning: reason === "invalid" } });
    if (plan.outcome !== "held") return;
    expect(plan.due.outcome).toBe("roll");
    expect(plan.hold.until).toBe(reason === "window" ? Date.parse("2026-11-23T21:00:00Z") : undefined);
  });

  it.each<[string, Given]>([
    ["no annotation is set", {}],
    ["the window is open", { own: { window: night }, now: "2026-11-24T02:59:59Z" }],
    ["this hash is approved", { own: { mode: "approve", approved: approvable } }],
    [
      "this hash is approved in full and in capitals",
      { own: { mode: "approve", approved: hashOf(edited).slice(3).toUpperCase() } },
    ],
    ["the workload overrides the hold of its Namespace", { own: { hold: "false" }, ofNamespace: { hold: "true" } }],
    ["the workload overrides the mode of its Namespace", { own: { mode: "roll" }, ofNamespace: { mode: "observe" } }],
    [
      "the workload overrides an invalid value of its Namespace",
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
    ["an invalid value could only have released it", { own: { approved: "all", resumed: "now" } }],
  ])("but not if %s", (_, given) => {
    expect(planned(given)).toMatchObject({ outcome: "roll" });
  });

  it("but an object on hold that the workload no longer reads does not, nor do its batches", () => {
    const reads = (...names: readonly string[]) => ({
      containers: [{ name: "web", envFrom: names.map((name) => ({ configMapRef: { name } })) }],
    });
    const other = configMap("other", {});
    const configs = lookupOf({ ...edited, directive: "hold" }, other);
    const was = planRollout(workload({ pod: reads("web", "other") }), lookupOf(edited, other), defaultPolicy);
    if (!("view" in was)) throw new Error(was.outcome);
    const reader = workload({ pod: reads("other"), templateAnnotations: { [configHash]: was.view.hash } });
    const policy = { ...defaultPolicy, pacing: { ...unpaced, maxConcurrent: 1 } };
    const complete = { ...reader, progress: { state: "complete", since: undefined } } as const;
    const plan = decide({
      workload: complete,
      lookup: configs,
      policy,
      previous: was.view,
      moment: moment("2026-11-23T12:00:00Z"),
    });
    expect(plan).toMatchObject({ outcome: "roll", batched: [] });
  });

  it("but an object on hold does not if another object changed too", () => {
    const pod = {
      containers: [{ name: "web", envFrom: ["web", "other"].map((name) => ({ configMapRef: { name } })) }],
    };
    const held: Config = { ...edited, directive: "hold" };
    const plan = (seen: readonly Config[], now: readonly Config[], watched: boolean) => {
      const was = planRollout(workload({ pod }), lookupOf(...seen), defaultPolicy);
      if (!("view" in was)) throw new Error(was.outcome);
      const reader = workload({ pod, templateAnnotations: { [configHash]: was.view.hash } });
      const policy = { ...defaultPolicy, pacing: unpaced };
      const rolled = { ...reader, rolledAt: 1_000, hashWrittenAt: 1_000 };
      return decide({
        workload: rolled,
        lookup: lookupOf(...now),
        policy,
        previous: watched ? was.view : undefined,
        moment: moment("2026-11-22T01:00:00Z"),
      });
    };
    const other = (value: string, changedAt: number) => ({ ...configMap("other", { value }), changedAt });
    const at = (config: Config, changedAt: number) => ({ ...config, changedAt });
    for (const watched of [true, false]) {
      const seen = [at(before, 900), other("1", 900)];
      expect(plan(seen, [at(held, 1_100), other("1", 900)], watched)).toMatchObject({ outcome: "held" });
      expect(plan(seen, [at(held, 1_100), other("2", 1_200)], watched)).toMatchObject({ outcome: "roll" });
    }
  });

  it("but not of pending Pods, except in mode observe", () => {
    const schedulingHeld = { of: { schedulerName: "wave.pusher.com/invalid", schedulerToRestore: "" } };
    expect(
      planned({ ...schedulingHeld, own: { hold: "true", window: night, mode: "approve", settle: "?" } }).outcome,
    ).not.toBe("held");
    expect(planned({ ...schedulingHeld, own: { mode: "observe" } })).toMatchObject({ hold: { reason: "observed" } });
  });
});
