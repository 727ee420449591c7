import { describe, expect, it } from "vitest";
import { parseWorkloadArgument } from "./workload-argument.ts";

describe("parseWorkloadArgument", () => {
  it.each([
    { words: ["deploy/web"], kind: "Deployment" },
    { words: ["deployment/web"], kind: "Deployment" },
    { words: ["deployments.apps/web"], kind: "Deployment" },
    { words: ["deployments.v1.apps/web"], kind: "Deployment" },
    { words: ["Deployment", "web"], kind: "Deployment" },
    { words: ["sts/web"], kind: "StatefulSet" },
    { words: ["statefulset", "web"], kind: "StatefulSet" },
    { words: ["ds", "web"], kind: "DaemonSet" },
    { words: ["daemonsets/web"], kind: "DaemonSet" },
  ])("reads $words as kubectl does", ({ words, kind }) => {
    expect(parseWorkloadArgument(words)).toMatchObject({ kind, resource: { kind }, name: "web" });
  });

  it.each([
    { words: [], says: "name a workload, such as deployment/web" },
    { words: ["web"], says: '"web": say of which kind it is, such as deployment/web' },
    { words: ["pod/web"], says: 'Wave rolls no "pod", only a deployment, statefulset or daemonset' },
    { words: ["deployments.extensions/web"], says: 'Wave rolls no "deployments.extensions", only a' },
    { words: ["deploy"], says: "name one Deployment, such as deployment/web" },
    { words: ["deploy/"], says: "name one Deployment, such as deployment/web" },
    { words: ["deploy/web", "deploy/api"], says: 'name one workload; "deploy/api" is one more' },
    { words: ["deploy", "web", "api"], says: 'name one workload; "api" is one more' },
    { words: ["deploy/../secrets"], says: '"../secrets" is not a name that a Deployment can have' },
    { words: ["sts/Web"], says: '"Web" is not a name that a StatefulSet can have' },
  ])("refuses $words and says what to write", ({ words, says }) => {
    expect(() => parseWorkloadArgument(words)).toThrow(says);
  });
});
