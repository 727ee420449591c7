import { describe, expect, it } from "vitest";
import type { Pod } from "#kubernetes";
import { sapConfigHash } from "../compatibility/directive.ts";
import { configHash, workloadRefHash } from "../references/annotations.ts";
import { everyObject, observePod } from "./observed-pod.ts";
import { type HashPlace, hashAnnotations, podHash, podSelector } from "./pod-owner.ts";

describe("Pods of a workload", () => {
  it("are selected by the selector of the workload", () => {
    const expression = (key: string, operator: string, values?: readonly string[]) => ({
      key,
      operator,
      ...(values && { values }),
    });
    expect(
      podSelector({
        matchLabels: { app: "web", tier: "front" },
        matchExpressions: [
          expression("a", "In", ["1", "2"]),
          expression("b", "NotIn", ["3"]),
          expression("c", "Exists"),
          expression("d", "DoesNotExist"),
        ],
      }),
    ).toBe("app=web,tier=front,a in (1,2),b notin (3),c,!d");
  });

  it.each([undefined, "text", { matchLabels: "x", matchExpressions: 3 }, { matchExpressions: [null, { key: 1 }] }])(
    "have no selector if it is %j, as a custom resource may have",
    (selector) => {
      expect(podSelector(selector)).toBe("");
    },
  );
});

const templateSource = { kind: "Deployment", name: "web" } as NonNullable<HashPlace["templateSource"]>;
const own = { hashAnnotation: configHash, templateSource: undefined };
const sap = { hashAnnotation: sapConfigHash, templateSource: undefined };
const withRef = { hashAnnotation: configHash, templateSource };

describe("The hash that a Pod has", () => {
  it.each([
    ["is in the annotation of its workload", own, { [configHash]: "a" }, "a"],
    ["is in the annotation of SAP if its workload uses this annotation", sap, { [sapConfigHash]: "a" }, "a"],
    [
      "is not the hash of a Rollout that uses the same pod template",
      own,
      { [configHash]: "a", [workloadRefHash]: "b" },
      "a",
    ],
    [
      "is the hash of the Rollout for a Pod of the Rollout",
      withRef,
      { [configHash]: "a", [workloadRefHash]: "b" },
      "b",
    ],
    ["is the hash of the Deployment if a Rollout tracks the same", withRef, { [configHash]: "a" }, "a"],
    ["is in the annotation of SAP if the Deployment of the Rollout uses it", withRef, { [sapConfigHash]: "a" }, "a"],
    ["is undefined if the Pod has only another annotation", own, { [sapConfigHash]: "a" }, undefined],
    ["is undefined if it is not a string", own, { [configHash]: 1 }, undefined],
  ])("%s", (_, place, annotations, hash) => {
    expect(podHash(annotations, place)).toBe(hash);
    expect(podHash(hashAnnotations({ ...annotations, other: "x" }), place)).toBe(hash);
  });

  it("is part of what a Pod shows", () => {
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { annotations: { [sapConfigHash]: "a" } } } satisfies Pod;
    expect(observePod(pod, everyObject, sap).hash).toBe("a");
    expect(observePod(pod, everyObject, undefined).hash).toBeUndefined();
  });
});
