import { describe, expect, it } from "vitest";
import { readsAll, type WorkloadFixture, workload, workloadObject } from "../../../test/support/domain/objects.ts";
import { noPolicy } from "../policy/policy-rows.ts";
import { matchesObject, sameWorkload, withoutReferences, withProgressOf } from "./cached-workload.ts";

const optIn = "wave.pusher.com/update-on-config-change";

describe("sameWorkload", () => {
  const before = workload({ pod: readsAll("Secret", "db") });

  it("ignores labels, other annotations, status and resource version", () => {
    const metadata = { labels: { a: "b" }, resourceVersion: "8" };
    expect(
      sameWorkload(before, workload({ pod: readsAll("Secret", "db"), annotations: { other: "x" }, metadata })),
    ).toBe(true);
  });

  it.each([
    ["a reference", { pod: readsAll("Secret", "other") }],
    ["its being optional", { pod: readsAll("Secret", "db", true) }],
    ["the generation", { pod: readsAll("Secret", "db"), metadata: { generation: 4 } }],
    ["the opt-in", { pod: readsAll("Secret", "db"), annotations: { [optIn]: "yes" } }],
    ["the hash", { pod: readsAll("Secret", "db"), templateAnnotations: { "wave.pusher.com/config-hash": "v2:" } }],
  ])("reports a difference in %s", (_, wanted) => {
    expect(sameWorkload(before, workload(wanted))).toBe(false);
  });
});

describe("matchesObject", () => {
  const pod = readsAll("Secret", "db");
  const held = workload({ kind: "StatefulSet", pod });
  const changed = (wanted: WorkloadFixture) => workloadObject({ kind: "StatefulSet", pod, ...wanted });

  it("does not read the spec", () => {
    const unreadable = Object.defineProperty(changed({}), "spec", {
      get: () => {
        throw new Error("looked at");
      },
    });
    expect(matchesObject(held, unreadable)).toBe(true);
  });

  it("ignores labels and annotations of others", () => {
    const metadata = { resourceVersion: "8", labels: { a: "b" } };
    expect(matchesObject(held, changed({ metadata }))).toBe(true);
    expect(matchesObject(held, changed({ annotations: { other: "x" } }))).toBe(true);
  });

  it.each<[string, WorkloadFixture]>([
    ["the generation", { metadata: { generation: 4 } }],
    ["the object of this name", { metadata: { uid: "2" } }],
    ["its being deleted", { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }],
    ["the opt-in", { annotations: { "wave.pusher.com/update-on-config-change": "false" } }],
    ["what else it names", { annotations: { "wave.pusher.com/extra-secrets": "a" } }],
    ["a mistake", { annotations: { [`wave.pusher.com/${"x".repeat(300)}`]: "a" } }],
  ])("is false after a change of %s", (_, wanted) => {
    expect(matchesObject(held, changed(wanted))).toBe(false);
    expect(matchesObject(workload({ kind: "StatefulSet", pod, ...wanted }), changed(wanted))).toBe(true);
  });

  it("is false while Wave gives up a scheduler: a newer status moves the field manager of Wave", () => {
    const wave = {
      manager: "wave",
      fieldsV1: { "f:spec": { "f:template": { "f:spec": { "f:schedulerName": {} } } } },
    };
    const status = { manager: "kube-controller-manager", subresource: "status", fieldsV1: {} };
    const fixture = (...managedFields: readonly object[]) => ({
      kind: "StatefulSet",
      pod,
      metadata: { managedFields },
    });
    const disowning = workload(fixture(status, wave) as WorkloadFixture);
    expect(disowning.disowning?.[0]).toMatchObject({ path: "/metadata/managedFields/1/manager" });
    expect(matchesObject(disowning, workloadObject(fixture(wave, status) as WorkloadFixture))).toBe(false);
  });

  it("is false for an object without a generation", () => {
    const metadata = { generation: undefined };
    expect(matchesObject(workload({ metadata }), workloadObject({ metadata }))).toBe(false);
  });
});

describe("withProgressOf", () => {
  const pod = readsAll("Secret", "db");
  const updated = { observedGeneration: 3, replicas: 1, updatedReplicas: 1 };
  const rolling = workloadObject({ pod, status: updated });

  it("returns the same workload if its progress is unchanged", () => {
    const held = workload({ pod, status: updated });
    expect(withProgressOf(held, rolling)).toBe(held);
  });

  it("changes only the progress, and keeps the lists of references", () => {
    const held = workload({ pod, status: updated });
    const after = withProgressOf(held, workloadObject({ pod, status: { ...updated, availableReplicas: 1 } }));
    expect(after).toEqual({ ...held, progress: { state: "complete", since: undefined } });
    expect(after.references).toBe(held.references);
    expect(sameWorkload(held, after)).toBe(false);
  });
});

describe("withoutReferences", () => {
  it("keeps the policy annotations, unless they are long", () => {
    const annotations = { "wave.pusher.com/hold": "true", "wave.pusher.com/window": "x".repeat(400) };
    expect(withoutReferences(workload({ annotations }), { limit: "namespace", count: 21 }).policy).toEqual({
      hold: "true",
    });
    expect(withoutReferences(workload(), { limit: "namespace", count: 21 }).policy).toEqual(noPolicy);
  });
});
