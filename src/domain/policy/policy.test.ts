import { describe, expect, it } from "vitest";
import { defaultPolicy } from "../../../test/support/domain/objects.ts";
import type { NamesMatching, PatternReference } from "../compatibility/directive.ts";
import { emptyNamespacePolicy, toNamespacePolicy } from "./namespace-policy.ts";
import { type ClusterPolicy, policyFor } from "./policy.ts";

const pattern: PatternReference = { kind: "ConfigMap", source: "web-.*", annotation: "example.com/match", path: "" };
const matching: NamesMatching = (namespace, patterns) => patterns.map(({ source }) => [`${namespace} ${source}`]);
const held = toNamespacePolicy({ metadata: { name: "shop", annotations: { "wave.pusher.com/hold": "true" } } });
const cluster: ClusterPolicy = {
  ...defaultPolicy,
  hashKeys: undefined,
  namespacePolicyOf: (namespace) => (namespace === "shop" ? held : emptyNamespacePolicy),
  namesMatching: matching,
};

describe("policyFor", () => {
  it("has what the Namespace of the workload decides", () => {
    expect(policyFor({ namespace: "shop" }, cluster).namespacePolicy).toBe(held);
    expect(policyFor({ namespace: "bank" }, cluster).namespacePolicy).toBe(emptyNamespacePolicy);
  });

  it("has the matched names of a workload with patterns, and none without", () => {
    expect(policyFor({ namespace: "shop", peer: { patterns: [pattern] } }, cluster).matchedNames).toEqual([
      ["shop web-.*"],
    ]);
    expect(policyFor({ namespace: "shop", peer: { patterns: [] } }, cluster).matchedNames).toBeUndefined();
  });

  it("has only facts: no function reaches a plan", () => {
    const values = Object.values(policyFor({ namespace: "shop", peer: { patterns: [pattern] } }, cluster));
    expect(values.filter((value) => typeof value === "function")).toEqual([]);
  });
});
