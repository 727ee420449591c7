import { describe, expect, it } from "vitest";
import { builtInKinds } from "../../domain/model/kinds/apps-kinds.ts";
import { withAvailableKind } from "../cluster/running-wave/known-policy.ts";
import {
  builtInArgumentKinds,
  configArgumentKinds,
  namespaceArgumentKinds,
  parseObjectArguments,
  parseWorkloadArgument,
} from "./workload-argument.ts";

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
  ])("reads $word, whose API version only the cluster knows", ({ word, kind }) => {
    const argument = parseWorkloadArgument([word]);
    expect(argument).toMatchObject({ kind, name: "web" });
    expect(() => withAvailableKind(argument, { kinds: builtInKinds })).toThrow(
      `Wave does not roll ${kind} in this cluster`,
    );
    const row = { ...argument.resource, apiVersion: "found/v1" };
    expect(withAvailableKind(argument, { kinds: [row] }).resource).toBe(row);
  });

  it.each([
    { words: [], message: "no workload named; use KIND/NAME, for example deployment/web" },
    { words: ["/web"], message: '"/web" has no kind; use KIND/NAME, for example deployment/web' },
    { words: ["web"], message: '"web" has no kind; use KIND/NAME, for example deployment/web' },
    {
      words: ["pod/web"],
      message:
        'unsupported kind "pod"; this command accepts deployment, statefulset or daemonset. Write a kind of --workload-kinds with its group, for example rollouts.argoproj.io/web',
    },
    {
      words: ["deployments.extensions/web"],
      message: 'unsupported kind "deployments.extensions"; this command accepts deployment',
    },
    { words: ["deploy"], message: "no Deployment named; add a name, for example deployment/web" },
    { words: ["deploy/"], message: "no Deployment named; add a name, for example deployment/web" },
    { words: ["deploy/web", "deploy/api"], message: 'too many workloads; this command takes one, remove "deploy/api"' },
    { words: ["deploy", "web", "api"], message: 'too many workloads; this command takes one, remove "api"' },
    {
      words: ["deploy/../secrets"],
      message: '"../secrets" is not a valid Deployment name; use lower-case letters, digits, dashes and dots',
    },
    { words: ["sts/Web"], message: '"Web" is not a valid StatefulSet name' },
  ])("rejects $words with what to write instead", ({ words, message }) => {
    expect(() => parseWorkloadArgument(words)).toThrow(message);
  });
});

describe("parseObjectArguments", () => {
  const rows = [...builtInArgumentKinds, ...configArgumentKinds, ...namespaceArgumentKinds];
  const read = (...words: readonly string[]) =>
    parseObjectArguments(words, rows).map(({ kind, name }) => `${kind} ${name}`);

  it("reads several objects in both forms of kubectl, each once", () => {
    expect(read("deploy/web", "cm/page", "deployment/web")).toEqual(["Deployment web", "ConfigMap page"]);
    expect(read("secret", "db", "cache")).toEqual(["Secret db", "Secret cache"]);
    expect(read("Namespace/shop")).toEqual(["Namespace shop"]);
  });

  it.each([
    { words: [], message: "no object named; use KIND/NAME, for example deployment/web" },
    { words: ["deploy/web", "api"], message: '"api" has no kind; use KIND/NAME, for example deployment/api' },
    { words: ["secret"], message: "no Secret named; add a name, for example secret/web" },
    { words: ["configmaps.apps/web"], message: 'unsupported kind "configmaps.apps"; this command accepts deployment' },
    { words: ["pod/web"], message: "daemonset, configmap, secret or namespace" },
    { words: ["cm/a/b"], message: '"cm/a/b" has two slashes; use one KIND/NAME for each object, for example cm/web' },
  ])("rejects $words with what to write instead", ({ words, message }) => {
    expect(() => parseObjectArguments(words, rows)).toThrow(message);
  });
});
