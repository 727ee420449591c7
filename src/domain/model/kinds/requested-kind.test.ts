import { describe, expect, it } from "vitest";
import { parseRequestedKind, requestedKindRow } from "./requested-kind.ts";

describe("a kind that is wanted", () => {
  it.each([
    ["rollouts.argoproj.io", "rollouts.argoproj.io", undefined, "/spec/template"],
    ["argoproj.io/v1alpha1/rollouts", "rollouts.argoproj.io", "v1alpha1", "/spec/template"],
    [" example.com/v1/widgets=/spec/podTemplate", "widgets.example.com", "v1", "/spec/podTemplate"],
    ["widgets.example.com=/spec/a/template", "widgets.example.com", undefined, "/spec/a/template"],
  ])("is read from %s", (text, id, version, template) => {
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
  ])("is not read from %j", (text) => {
    expect(parseRequestedKind(text)).toBeUndefined();
  });

  it("is as it was found, with what is known of it", () => {
    const wanted = parseRequestedKind("statefulsets.apps.kruise.io");
    const row = wanted && requestedKindRow(wanted, { apiVersion: "apps.kruise.io/v1beta1", kind: "StatefulSet" });
    expect(row).toMatchObject({ id: "statefulsets.apps.kruise.io", kind: "StatefulSet", leavesHeldPods: true });
    expect(row?.annotationsRaiseGeneration).toBe(false);
  });
});
