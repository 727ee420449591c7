import { describe, expect, it } from "vitest";
import type { OwnerReference } from "#kubernetes";
import {
  defaultPolicy,
  readsAll,
  unpaced,
  type WorkloadFixture,
  workload,
} from "../../../test/support/domain/objects.ts";
import { builtInKinds } from "../model/kinds/apps-kinds.ts";
import { oldFinalizer } from "../model/scheduling-hold.ts";
import { type Workload, workloadKey } from "../model/workload-shape.ts";
import { type Policy, toNamespacePolicy } from "../policy/policy.ts";
import { rulesFor } from "../policy/rules.ts";
import { maxOwners, ownershipActionOf, ownersOf, planOwners, withPlannedOwners } from "./owner-references.ts";

const keeps: Policy = { ...defaultPolicy, ownership: "keep" };
const removes: Policy = { ...defaultPolicy, ownership: "remove" };
const inEnding: Policy = { ...keeps, namespacePolicyOf: () => ({ ...toNamespacePolicy({}), deleting: true }) };
const pod = readsAll("ConfigMap", "settings");
const optedOut = { "wave.pusher.com/update-on-config-change": "false" };
const observed = { "wave.pusher.com/mode": "observe" };
const deletionTimestamp = "2026-01-01T00:00:00Z";

describe("a workload", () => {
  it.each<[string, WorkloadFixture, Policy, string]>([
    ["that references an object owns it", {}, keeps, "own"],
    ["that references nothing owns nothing", { pod: {} }, keeps, "release"],
    [
      "that names only objects of another namespace owns nothing",
      { pod: {}, annotations: { "wave.pusher.com/extra-configmaps": "other/settings" } },
      keeps,
      "release",
    ],
    [
      "that names an object of its namespace in an annotation owns it",
      { pod: {}, annotations: { "wave.pusher.com/extra-configmaps": "settings" } },
      keeps,
      "own",
    ],
    ["that has opted out releases its objects", { annotations: optedOut }, keeps, "release"],
    ["that is being deleted releases its objects", { metadata: { deletionTimestamp } }, keeps, "release"],
    ["that is observed does not change", { annotations: observed }, keeps, "none"],
    [
      "that is observed and being deleted releases its objects",
      { annotations: observed, metadata: { deletionTimestamp } },
      keeps,
      "release",
    ],
    ["releases its objects with ownership=remove", {}, removes, "release"],
    ["that is observed does not change with ownership=remove", { annotations: observed }, removes, "none"],
    ["loses only its finalizer if its Namespace is being deleted", {}, inEnding, "removeFinalizer"],
    [
      "that is being deleted loses only its finalizer with its Namespace",
      { metadata: { deletionTimestamp } },
      inEnding,
      "removeFinalizer",
    ],
    ["does not change with --observe", {}, { ...keeps, pacing: { ...unpaced, observe: true } }, "none"],
  ])("%s", (_, { annotations, ...wanted }, policy, action) => {
    const of = workload({ pod, ...wanted, annotations: { ...annotations } });
    expect(ownershipActionOf(of, rulesFor(of, policy))).toBe(action);
  });
});

const finalizers = [oldFinalizer];
const named = (name: string, wanted: WorkloadFixture = {}): Workload =>
  workload({ pod, ...wanted, metadata: { name, uid: `uid-${name}`, finalizers, ...wanted.metadata } });
const refersTo = (name: string, more: Partial<OwnerReference> = {}): OwnerReference => {
  return { apiVersion: "apps/v1", kind: "Deployment", name, uid: `uid-${name}`, ...more };
};
const said = { controller: false, blockOwnerDeletion: false };
const anchor: OwnerReference = { apiVersion: "v1", kind: "Namespace", name: "default", uid: "uid-default", ...said };

/** Returns the owner references of an object after a plan. `readers` are the workloads that read it. */
function become(
  references: readonly OwnerReference[],
  workloads: readonly Workload[],
  { policy = keeps, readers = workloads }: { policy?: Policy; readers?: readonly Workload[] } = {},
): readonly OwnerReference[] | "unchanged" {
  const byKey = new Map(workloads.map((each) => [workloadKey(each), each]));
  const plan = planOwners(ownersOf(references, "default", builtInKinds), readers, (key) => byKey.get(key), policy);
  return plan === undefined ? "unchanged" : withPlannedOwners(references, plan, "default", "uid-default", builtInKinds);
}

describe("the owners of an object", () => {
  const [web, api] = [named("web"), named("api")];

  it("are the workloads that read it, and its Namespace, each once", () => {
    const owners = [refersTo("api", said), refersTo("web", said), anchor];
    expect(become([], [web, api])).toEqual(owners);
    expect(become(owners, [web, api])).toBe("unchanged");
  });

  it("do not include workloads without the finalizer", () => {
    const early = named("web", { metadata: { finalizers: [] } });
    expect(become([], [early])).toBe("unchanged");
    expect(become([], [early, api])).toEqual([refersTo("api", said), anchor]);
  });

  it("are removed if they no longer read it, are deleted, or with ownership=remove; the Namespace with the last", () => {
    const references = [refersTo("api", said), refersTo("web", said), anchor];
    expect(become(references, [web, api], { readers: [api] })).toEqual([refersTo("api", said), anchor]);
    expect(become(references, [web, api], { readers: [] })).toEqual([]);
    expect(become(references, [web, named("api", { metadata: { deletionTimestamp } })])).toEqual([
      refersTo("web", said),
      anchor,
    ]);
    expect(become(references, [web, api], { policy: removes })).toEqual([]);
  });

  it("get the Namespace if an old Wave added owners without it", () => {
    const old = refersTo("web", { ...said, blockOwnerDeletion: true });
    expect(become([old], [web])).toEqual([old, anchor]);
    expect(become([old], [web], { policy: removes })).toEqual([]);
  });

  it("lose the Namespace if the garbage collector removed the workload", () => {
    expect(become([anchor], [])).toEqual([]);
    expect(become([anchor], [], { policy: removes })).toEqual([]);
  });

  it("keep the Namespace while an unknown workload is an owner", () => {
    expect(become([refersTo("gone"), anchor], [])).toBe("unchanged");
    expect(become([refersTo("gone"), refersTo("web", said), anchor], [web], { policy: removes })).toEqual([
      refersTo("gone"),
      anchor,
    ]);
  });

  it.each<[string, OwnerReference]>([
    ["is the controller", refersTo("web", { controller: true })],
    ["is of another kind", refersTo("web", { kind: "ReplicaSet" })],
    ["is of another group", refersTo("web", { apiVersion: "example.com/v1" })],
    ["is to a deleted workload of the same name", refersTo("web", { uid: "uid-before" })],
    ["has an invalid name", refersTo("../web")],
    [
      "is to the Namespace by another client",
      { apiVersion: "v1", kind: "Namespace", name: "default", uid: "uid-default" },
    ],
  ])("do not change if a reference %s", (_, reference) => {
    expect(become([reference], [web], { readers: [] })).toBe("unchanged");
    expect(become([reference], [web], { policy: removes })).toBe("unchanged");
    expect(become([reference, refersTo("api"), anchor], [web, api], { policy: removes })).toContainEqual(reference);
  });

  it("do not change if the workload has no finalizer", () => {
    const without = named("web", { metadata: { finalizers: [] } });
    expect(become([refersTo("web")], [without], { policy: removes })).toBe("unchanged");
  });

  it("do not change if the workload is observed", () => {
    const observedWeb = named("web", { annotations: observed });
    expect(become([refersTo("web", said), anchor], [observedWeb])).toBe("unchanged");
  });

  it("get no owner if the object has a controller, and lose added owners", () => {
    const controller = { apiVersion: "example.com/v1", kind: "App", name: "app", uid: "uid-app", controller: true };
    expect(become([controller], [web])).toBe("unchanged");
    expect(become([controller, refersTo("web", said), anchor], [web])).toEqual([controller]);
  });

  it(`are at most ${maxOwners}, the first by name`, () => {
    const many = Array.from({ length: maxOwners + 5 }, (_, index) => named(`web-${1000 + index}`));
    const owners = become([], many.toReversed());
    if (owners === "unchanged") throw new Error(owners);
    expect(owners).toHaveLength(maxOwners + 1);
    expect(owners.at(-2)?.name).toBe(`web-${1000 + maxOwners - 1}`);
    expect(become(owners, many)).toBe("unchanged");
  });
});
