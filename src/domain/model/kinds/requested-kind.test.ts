import { describe, expect, it } from "vitest";
import { parseRequestedKind, requestedKindRow } from "./requested-kind.ts";

describe("a requested kind", () => {
  it.each([
    ["rollouts.argoproj.io", "rollouts.argoproj.io", undefined, "/spec/template"],
    ["argoproj.io/v1alpha1/rollouts", "rollouts.argoproj.io", "v1alpha1", "/spec/template"],
    [" example.com/v1/widgets=/spec/podTemplate", "widgets.example.com", "v1", "/spec/podTemplate"],
    ["widgets.example.com=/spec/a/template", "widgets.example.com", undefined, "/spec/a/template"],
  ])("is parsed from %s", (text, id, version, template) => {
    expect(parseRequestedKind(text)).toMatchObject({ id, version, template });
  });

  it.each([
    "",
    "rollouts",
    "Rollouts.argoproj.io",
    "v1/pods",
    "argoproj.io/rollouts",
    "argoproj.io/v1alpha1/rollouts/status",
    "argoproj.io/latest/rollouts",
    "argoproj.io/v1/../secrets",
    "replicasets.apps",
    "widgets.example.com=",
    "widgets.example.com=spec.template",
    "widgets.example.com=/spec/containers/0~1",
    "widgets.example.com=/spec=/template",
  ])("is not parsed from %j", (text) => {
    expect(parseRequestedKind(text)).toBeUndefined();
  });

  it("has the discovered names and the known rules", () => {
    const wanted = parseRequestedKind("statefulsets.apps.kruise.io");
    const row = wanted && requestedKindRow(wanted, { apiVersion: "apps.kruise.io/v1beta1", kind: "StatefulSet" });
    expect(row).toMatchObject({ id: "statefulsets.apps.kruise.io", kind: "StatefulSet", keepsPendingPods: true });
    expect(row?.annotationsRaiseGeneration).toBe(false);
  });
});
