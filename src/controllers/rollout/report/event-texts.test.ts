import { describe, expect, it } from "vitest";
import { type WorkloadFixture, workload } from "../../../../test/support/domain/objects.ts";
import { type RolloutStrategyName, rolloutStrategies } from "../../../domain/model/rollout-strategy.ts";
import { maxMessageBytes } from "../../../kube/events/event-object.ts";
import { heldEvent, writtenEvent } from "./event-texts.ts";

describe("the Event of a first hash", () => {
  const plan = { outcome: "firstHash", reason: "no hash is recorded yet", warnings: [] } as const;
  const messageFor = (name: RolloutStrategyName) =>
    writtenEvent({ ...workload(), strategy: rolloutStrategies[name] }, plan, undefined).message;

  it("names the place of the hash, and what follows for the Pods", () => {
    expect(messageFor("template")).toBe(
      "Added the configuration hash to the pod template: no hash is recorded yet. Kubernetes replaces the Pods once.",
    );
    expect(messageFor("templateSource")).toBe(
      "Added the configuration hash to the annotations: no hash is recorded yet. No Pod is replaced.",
    );
    expect(messageFor("restart")).toBe(
      "Added the configuration hash to the annotations: no hash is recorded yet. No Pod is restarted.",
    );
  });
});

describe("the Events of a workload whose Pods Kubernetes keeps", () => {
  const why = 'ConfigMap "page" changed (key "a")';
  const messageOf = (outcome: "roll" | "firstHash", fixture: WorkloadFixture) =>
    writtenEvent(workload(fixture), { outcome, reason: why, warnings: [] }, undefined).message;

  it.each<[string, WorkloadFixture, string]>([
    [
      "is paused",
      { spec: { paused: true } },
      "The workload is paused. Kubernetes replaces the Pods after it is resumed.",
    ],
    [
      "has the update strategy OnDelete",
      { kind: "StatefulSet", spec: { updateStrategy: { type: "OnDelete" } } },
      "The update strategy is OnDelete. Kubernetes replaces a Pod after you delete it.",
    ],
    [
      "is a DaemonSet with OnDelete",
      { kind: "DaemonSet", spec: { updateStrategy: { type: "OnDelete" } } },
      "The update strategy is OnDelete. Kubernetes replaces a Pod after you delete it.",
    ],
    [
      "is suspended",
      { spec: { suspend: true } },
      "The workload is suspended. Kubernetes creates Pods after it is resumed.",
    ],
    ["has no Pods", { spec: { replicas: 0 } }, "The workload is scaled to zero. There are no Pods to replace."],
  ])("name the setting if it %s, and start no rollout", (_, fixture, kept) => {
    expect(messageOf("roll", fixture)).toBe(`Hash updated, but no Pod is replaced yet: ${why}. ${kept}`);
    expect(messageOf("firstHash", fixture)).toBe(`Added the configuration hash to the pod template: ${why}. ${kept}`);
  });

  it("name a partition that keeps some Pods", () => {
    const rollingUpdate = { partition: 1 };
    const kept = "The partition is 1. Kubernetes does not replace Pods with a lower ordinal.";
    const fixture: WorkloadFixture = { kind: "StatefulSet", spec: { replicas: 2, updateStrategy: { rollingUpdate } } };
    expect(messageOf("roll", fixture)).toBe(`Rollout started: ${why}. ${kept}`);
    expect(messageOf("roll", {})).toBe(`Rollout started: ${why}.`);
  });
});

it("the Event of a hold has room for the next step, however long the names of what changed are", () => {
  const held = { outcome: "held", due: { outcome: "cleanUp" }, reason: `${"ü".repeat(2_000)}` } as const;
  const message = `Rollout held by annotation wave.pusher.com/hold: "${"r".repeat(80)}". Run: wave release deployment/${"n".repeat(253)} -n shop.`;
  const event = heldEvent(workload(), { ...held, hold: { reason: "hold", message, until: undefined, warning: false } });
  expect(Buffer.byteLength(event.message)).toBeLessThanOrEqual(maxMessageBytes);
  expect(event.message).toMatch(/^Rollout due: ü+…\. /);
  expect(event.message.endsWith(message)).toBe(true);
});
