import { describe, expect, it } from "vitest";
import { settingsWith } from "../../../test/support/domain/compatibility.ts";
import { planRollout } from "../../../test/support/domain/decisions.ts";
import { defaultPolicy, lookupOf, workload } from "../../../test/support/domain/objects.ts";
import type { Filters, NamesMatching, PatternReference } from "../compatibility/directive.ts";
import { type Config, type ConfigObject, toConfig } from "../config/digest.ts";
import { invalidScheduler } from "../model/scheduling-hold.ts";
import { readLabelSelector } from "../syntax/label-selector.ts";
import { type Policy, toNamespacePolicy } from "./policy.ts";
import { noPolicy } from "./policy-rows.ts";
import { rulesFor } from "./rules.ts";

const pattern: PatternReference = { kind: "ConfigMap", source: "web-.*", annotation: "example.com/match", path: "" };
const matching: NamesMatching = (namespace, patterns) => patterns.map(({ source }) => [`${namespace} ${source}`]);
const empty = toNamespacePolicy({});
const held = toNamespacePolicy({ metadata: { name: "shop", annotations: { "wave.pusher.com/hold": "true" } } });
const cluster: Policy = {
  ...defaultPolicy,
  hashKeys: undefined,
  namespacePolicyOf: (namespace) => (namespace === "shop" ? held : empty),
  namesMatching: matching,
};

describe("rulesFor", () => {
  it("has what the Namespace of the workload decides", () => {
    expect(rulesFor({ namespace: "shop", policy: noPolicy }, cluster).namespacePolicy).toBe(held);
    expect(rulesFor({ namespace: "bank", policy: noPolicy }, cluster).namespacePolicy).toBe(empty);
  });

  it("has the matched names of a workload with patterns, and none without", () => {
    expect(
      rulesFor({ namespace: "shop", policy: noPolicy, peer: { patterns: [pattern] } }, cluster).matchedNames,
    ).toEqual([["shop web-.*"]]);
    expect(
      rulesFor({ namespace: "shop", policy: noPolicy, peer: { patterns: [] } }, cluster).matchedNames,
    ).toBeUndefined();
  });

  it("has only facts: no function reaches a plan", () => {
    const values = Object.values(
      rulesFor({ namespace: "shop", policy: noPolicy, peer: { patterns: [pattern] } }, cluster),
    );
    expect(values.filter((value) => typeof value === "function")).toEqual([]);
  });
});

const read = (annotations: Record<string, string>) => toNamespacePolicy({ metadata: { name: "shop", annotations } });

describe("toNamespacePolicy", () => {
  it("reads the opt-in and the annotations that apply to all workloads, and nothing else", () => {
    const annotations = {
      "wave.pusher.com/update-on-config-change": "true",
      "wave.pusher.com/hold": "true",
      "wave.pusher.com/approved": "12345678",
      "example.com/hold": "true",
    };
    expect(read(annotations)).toEqual({ ...empty, optsIn: true, annotations: { hold: "true" } });
  });

  it("decides nothing without Wave annotations", () => {
    expect(empty).toEqual({ optsIn: false, annotations: {}, unselected: false, deleting: false });
    expect(read({ "example.com/team": "a" })).toEqual(empty);
  });

  it("reports that the Namespace is being deleted", () => {
    const metadata = { name: "shop", deletionTimestamp: "2026-01-01T00:00:00Z" };
    expect(toNamespacePolicy({ metadata })).toEqual({ ...empty, deleting: true });
  });

  it.each(["false", "", "True", "yes"])("does not treat %j as an opt-in", (value) => {
    expect(read({ "wave.pusher.com/update-on-config-change": value })).toEqual(empty);
  });
});

const pod = { containers: [{ name: "web", envFrom: ["web", "other"].map((name) => ({ configMapRef: { name } })) }] };
const config = (name: string, value: string, labels = {}, policy = defaultPolicy): Config => {
  const object: ConfigObject = { metadata: { namespace: "default", name, labels }, data: { a: value } };
  return toConfig("ConfigMap", object, policy.compatibility);
};

/** Wave's own annotations alone are understood: the flags hold for these, too. */
function leavingOut(filters: Partial<Filters>, namespaceLabels?: Readonly<Record<string, string>>): Policy {
  const none = { ignoredNamespaces: [], namespaces: undefined, configs: undefined, ignoredKinds: [] };
  const compatibility = settingsWith({ understood: ["wave"], filters: { ...none, ...filters } });
  const namespace = namespaceLabels && toNamespacePolicy({ metadata: { labels: namespaceLabels } }, compatibility);
  return { ...defaultPolicy, compatibility, namespacePolicyOf: () => namespace };
}

const before = lookupOf(config("web", "1"), config("other", "1"));
const first = planRollout(workload({ pod }), before, defaultPolicy);
if (first.outcome !== "firstHash") throw new Error(first.outcome);
const hashed = workload({ pod, templateAnnotations: { "wave.pusher.com/config-hash": first.hash } });
const edited = lookupOf(config("web", "2"), config("other", "1"));

describe("flags that exclude namespaces", () => {
  const team = { namespaces: readLabelSelector("team:a") };

  it("roll nothing in an ignored namespace", () => {
    const plan = planRollout(hashed, edited, leavingOut({ ignoredNamespaces: ["default"] }));
    expect(plan).toMatchObject({
      outcome: "ignore",
      reason: 'the workload is in namespace "default", which --namespaces-to-ignore names',
    });
    expect(planRollout(hashed, edited, leavingOut({ ignoredNamespaces: ["shop"] })).outcome).toBe("roll");
  });

  it("roll only if the labels of the Namespace are selected, and nothing while the labels are unknown", () => {
    expect(planRollout(hashed, edited, leavingOut(team, { team: "a" })).outcome).toBe("roll");
    expect(planRollout(hashed, edited, leavingOut(team, { team: "b" })).outcome).toBe("ignore");
    expect(planRollout(hashed, edited, leavingOut(team)).outcome).toBe("ignore");
  });

  it("do not leave Pods pending in a namespace that was selected when they got their scheduling hold", () => {
    const schedulingHeld = workload({ pod: { ...pod, schedulerName: invalidScheduler } });
    expect(planRollout(schedulingHeld, before, leavingOut(team, { team: "b" })).outcome).toBe("cleanUp");
  });
});

describe("flags that exclude objects", () => {
  const selecting = leavingOut({ configs: readLabelSelector("reload=yes") });
  const labelled = (web: string, other: string) =>
    lookupOf(config("web", web, { reload: "yes" }, selecting), config("other", other, {}, selecting));

  it("roll only for objects that are selected by their labels", () => {
    const seen = planRollout(workload({ pod }), labelled("1", "1"), selecting);
    if (seen.outcome !== "firstHash") throw new Error(seen.outcome);
    const mine = workload({ pod, templateAnnotations: { "wave.pusher.com/config-hash": seen.hash } });
    expect(planRollout(mine, labelled("1", "2"), selecting).outcome).toBe("current");
    expect(planRollout(mine, labelled("2", "1"), selecting).outcome).toBe("roll");
  });

  it("roll no workload when they are set or removed", () => {
    const plan = planRollout(hashed, labelled("1", "1"), selecting);
    expect(plan).toMatchObject({ outcome: "recorded", cause: "tracking" });
    if (plan.outcome !== "recorded") return;
    const back = planRollout(hashed, before, defaultPolicy, plan.view);
    expect(back.outcome).toBe("current");
  });

  it("neither wait nor roll for an ignored kind", () => {
    const secrets = { containers: [{ name: "web", envFrom: [{ secretRef: { name: "absent" } }] }] };
    const plan = planRollout(workload({ pod: secrets }), before, leavingOut({ ignoredKinds: ["Secret"] }));
    expect(plan).toMatchObject({ outcome: "current", reason: "the workload reads no tracked configuration" });
  });
});
