import type { OwnerReference } from "kubernetes-types/meta/v1.d.ts";
import { describe, expect, it } from "vitest";
import { defaultPolicy, readsAll, type Wanted, workload } from "../../../test/support/domain/objects.ts";
import { builtInKinds } from "../model/built-in-kinds.ts";
import { oldFinalizer } from "../model/old-finalizer.ts";
import type { Workload } from "../model/workload.ts";
import { workloadKey } from "../model/workload.ts";
import { decidesNothing } from "../policy/namespace-policy.ts";
import { unpaced } from "../policy/pacing-flags.ts";
import type { Policy } from "../policy/policy.ts";
import { bearingOf, mostOwners, planOwners } from "./owner-references.ts";
import { ownersOf, planned } from "./owners.ts";

const keeps: Policy = { ...defaultPolicy, ownership: "keep" };
const removes: Policy = { ...defaultPolicy, ownership: "remove" };
const inEnding: Policy = { ...keeps, ofNamespace: () => ({ ...decidesNothing, ends: true }) };
const pod = readsAll("ConfigMap", "settings");
const optedOut = { "wave.pusher.com/update-on-config-change": "false" };
const observed = { "wave.pusher.com/mode": "observe" };
const deletionTimestamp = "2026-01-01T00:00:00Z";

describe("a workload", () => {
  it.each<[string, Wanted, Policy, string]>([
    ["that references something owns it", {}, keeps, "owns"],
    ["that references nothing owns nothing", { pod: {} }, keeps, "releases"],
    [
      "that names something of another namespace alone owns nothing",
      { pod: {}, annotations: { "wave.pusher.com/extra-configmaps": "other/settings" } },
      keeps,
      "releases",
    ],
    [
      "that names something of its own by an annotation owns it",
      { pod: {}, annotations: { "wave.pusher.com/extra-configmaps": "settings" } },
      keeps,
      "owns",
    ],
    ["that has opted out releases", { annotations: optedOut }, keeps, "releases"],
    ["that is being deleted releases", { metadata: { deletionTimestamp } }, keeps, "releases"],
    ["that is observed is left", { annotations: observed }, keeps, "leaves"],
    [
      "that is observed and deleted releases",
      { annotations: observed, metadata: { deletionTimestamp } },
      keeps,
      "releases",
    ],
    ["releases where all is to be removed", {}, removes, "releases"],
    ["that is observed is left where all is to be removed", { annotations: observed }, removes, "leaves"],
    ["goes with its Namespace", {}, inEnding, "goes"],
    ["that is being deleted goes with its Namespace", { metadata: { deletionTimestamp } }, inEnding, "goes"],
    ["is left where Wave only observes", {}, { ...keeps, pacing: { ...unpaced, observe: true } }, "leaves"],
  ])("%s", (_, { annotations, ...wanted }, policy, bearing) => {
    expect(bearingOf(workload({ pod, ...wanted, annotations: { ...annotations } }), policy)).toBe(bearing);
  });
});

const finalizers = [oldFinalizer];
const named = (name: string, wanted: Wanted = {}): Workload =>
  workload({ pod, ...wanted, metadata: { name, uid: `uid-${name}`, finalizers, ...wanted.metadata } });
const refersTo = (name: string, more: Partial<OwnerReference> = {}): OwnerReference => {
  return { apiVersion: "apps/v1", kind: "Deployment", name, uid: `uid-${name}`, ...more };
};
const said = { controller: false, blockOwnerDeletion: false };
const anchor: OwnerReference = { apiVersion: "v1", kind: "Namespace", name: "default", uid: "uid-default", ...said };

/** The owner references of an object that was given some, with these workloads about, of which `readers` read it. */
function become(
  references: readonly OwnerReference[],
  workloads: readonly Workload[],
  { policy = keeps, readers = workloads }: { policy?: Policy; readers?: readonly Workload[] } = {},
): readonly OwnerReference[] | "as it is" {
  const byKey = new Map(workloads.map((each) => [workloadKey(each), each]));
  const plan = planOwners(ownersOf(references, "default", builtInKinds), readers, (key) => byKey.get(key), policy);
  return plan === undefined ? "as it is" : planned(references, plan, "default", "uid-default", builtInKinds);
}

describe("the owners of an object", () => {
  const [web, api] = [named("web"), named("api")];

  it("are those who read it, and then its Namespace besides; once", () => {
    const owners = [refersTo("api", said), refersTo("web", said), anchor];
    expect(become([], [web, api])).toEqual(owners);
    expect(become(owners, [web, api])).toBe("as it is");
  });

  it("are none before their finalizer is on them", () => {
    const early = named("web", { metadata: { finalizers: [] } });
    expect(become([], [early])).toBe("as it is");
    expect(become([], [early, api])).toEqual([refersTo("api", said), anchor]);
  });

  it("go when they do not read it any more, are deleted, or all is to be removed, and the Namespace with the last", () => {
    const references = [refersTo("api", said), refersTo("web", said), anchor];
    expect(become(references, [web, api], { readers: [api] })).toEqual([refersTo("api", said), anchor]);
    expect(become(references, [web, api], { readers: [] })).toEqual([]);
    expect(become(references, [web, named("api", { metadata: { deletionTimestamp } })])).toEqual([
      refersTo("web", said),
      anchor,
    ]);
    expect(become(references, [web, api], { policy: removes })).toEqual([]);
  });

  it("get the Namespace where an old Wave has put them without it, which then lose nothing", () => {
    const old = refersTo("web", { ...said, blockOwnerDeletion: true });
    expect(become([old], [web])).toEqual([old, anchor]);
    expect(become([old], [web], { policy: removes })).toEqual([]);
  });

  it("lose the Namespace where the garbage collector has taken the workload off", () => {
    expect(become([anchor], [])).toEqual([]);
    expect(become([anchor], [], { policy: removes })).toEqual([]);
  });

  it("keep the Namespace as long as a workload is among them that is not known", () => {
    expect(become([refersTo("gone"), anchor], [])).toBe("as it is");
    expect(become([refersTo("gone"), refersTo("web", said), anchor], [web], { policy: removes })).toEqual([
      refersTo("gone"),
      anchor,
    ]);
  });

  it.each<[string, OwnerReference]>([
    ["controls", refersTo("web", { controller: true })],
    ["is of another kind", refersTo("web", { kind: "ReplicaSet" })],
    ["is of another group", refersTo("web", { apiVersion: "example.com/v1" })],
    ["is to a workload that is gone, of the same name", refersTo("web", { uid: "uid-before" })],
    ["has a name that cannot be", refersTo("../web")],
    ["is somebody's to the Namespace", { apiVersion: "v1", kind: "Namespace", name: "default", uid: "uid-default" }],
  ])("are left where a reference %s", (_, reference) => {
    expect(become([reference], [web], { readers: [] })).toBe("as it is");
    expect(become([reference], [web], { policy: removes })).toBe("as it is");
    expect(become([reference, refersTo("api"), anchor], [web, api], { policy: removes })).toContainEqual(reference);
  });

  it("of a workload without the finalizer are somebody else's", () => {
    const without = named("web", { metadata: { finalizers: [] } });
    expect(become([refersTo("web")], [without], { policy: removes })).toBe("as it is");
  });

  it("of a workload that is observed stay", () => {
    const observedWeb = named("web", { annotations: observed });
    expect(become([refersTo("web", said), anchor], [observedWeb])).toBe("as it is");
  });

  it("get nothing added where something controls, and lose what was added before", () => {
    const controller = { apiVersion: "example.com/v1", kind: "App", name: "app", uid: "uid-app", controller: true };
    expect(become([controller], [web])).toBe("as it is");
    expect(become([controller, refersTo("web", said), anchor], [web])).toEqual([controller]);
  });

  it(`are ${mostOwners} at most, the first by name`, () => {
    const many = Array.from({ length: mostOwners + 5 }, (_, index) => named(`web-${1000 + index}`));
    const owners = become([], many.toReversed());
    if (owners === "as it is") throw new Error(owners);
    expect(owners).toHaveLength(mostOwners + 1);
    expect(owners.at(-2)?.name).toBe(`web-${1000 + mostOwners - 1}`);
    expect(become(owners, many)).toBe("as it is");
  });
});
