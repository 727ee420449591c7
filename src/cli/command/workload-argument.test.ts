import { describe, expect, it } from "vitest";
import { builtInKinds } from "../../domain/model/built-in-kinds.ts";
import { asFound } from "../cluster/available-kinds.ts";
import { configRows, namespaceRows, parseArguments, parseWorkloadArgument, workloadRows } from "./workload-argument.ts";

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
    { word: "rollouts.argoproj.io/web", kind: "rollouts.argoproj.io" },
    { word: "ro/web", kind: "rollouts.argoproj.io" },
    { word: "CloneSet/web", kind: "clonesets.apps.kruise.io" },
    { word: "statefulsets.apps.kruise.io/web", kind: "statefulsets.apps.kruise.io" },
    { word: "widgets.example.com/web", kind: "widgets.example.com" },
  ])("reads $word, of which the cluster tells more", ({ word, kind }) => {
    const argument = parseWorkloadArgument([word]);
    expect(argument).toMatchObject({ kind, name: "web" });
    expect(() => asFound(argument, { kinds: builtInKinds })).toThrow(`Wave rolls no ${kind} here`);
    const row = { ...argument.resource, apiVersion: "found/v1" };
    expect(asFound(argument, { kinds: [row] }).resource).toBe(row);
  });

  it.each([
    { words: [], says: "name a workload, such as deployment/web" },
    { words: ["/web"], says: '"/web": say of which kind it is, such as deployment/web' },
    { words: ["web"], says: '"web": say of which kind it is, such as deployment/web' },
    { words: ["pod/web"], says: 'Wave knows no "pod" here, only a deployment, statefulset or daemonset' },
    { words: ["deployments.extensions/web"], says: 'Wave knows no "deployments.extensions" here, only a' },
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

describe("parseArguments", () => {
  const rows = [...workloadRows, ...configRows, ...namespaceRows];
  const read = (...words: readonly string[]) => parseArguments(words, rows).map(({ kind, name }) => `${kind} ${name}`);

  it("reads several objects in both forms that kubectl has, each once", () => {
    expect(read("deploy/web", "cm/page", "deployment/web")).toEqual(["Deployment web", "ConfigMap page"]);
    expect(read("secret", "db", "cache")).toEqual(["Secret db", "Secret cache"]);
    expect(read("Namespace/shop")).toEqual(["Namespace shop"]);
  });

  it.each([
    { words: [], says: "name an object, such as deployment/web" },
    { words: ["deploy/web", "api"], says: '"api": say of which kind it is, such as deployment/api' },
    { words: ["secret"], says: "name one Secret, such as secret/web" },
    { words: ["configmaps.apps/web"], says: 'Wave knows no "configmaps.apps" here, only a deployment' },
    { words: ["pod/web"], says: "daemonset, configmap, secret or namespace" },
    { words: ["cm/a/b"], says: '"cm/a/b": name one ConfigMap a word, such as cm/web' },
  ])("refuses $words and says what to write", ({ words, says }) => {
    expect(() => parseArguments(words, rows)).toThrow(says);
  });
});
