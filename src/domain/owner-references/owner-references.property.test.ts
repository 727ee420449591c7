import fc from "fast-check";
import { expect, it } from "vitest";
import type { OwnerReference } from "#kubernetes";
import { defaultPolicy, readsAll, workload } from "../../../test/support/domain/objects.ts";
import { builtInKinds } from "../model/kinds/apps-kinds.ts";
import { oldFinalizer } from "../model/scheduling-hold.ts";
import { workloadKey } from "../model/workload-shape.ts";
import { ownersOf, planOwners, withPlannedOwners } from "./owner-references.ts";

const names = ["a", "b", "c", "d"];
const anchor = { apiVersion: "v1", kind: "Namespace", name: "default", uid: "namespace" };

const aReference: fc.Arbitrary<OwnerReference> = fc.oneof(
  fc.record({
    apiVersion: fc.constantFrom("apps/v1", "apps/v1beta1", "example.com/v1"),
    kind: fc.constantFrom("Deployment", "StatefulSet", "App"),
    name: fc.constantFrom(...names),
    uid: fc.constantFrom(...names, "gone"),
    controller: fc.boolean(),
  }),
  fc.constantFrom(anchor, { ...anchor, controller: false, blockOwnerDeletion: false }),
);

const aWorkload = fc.record({
  kind: fc.constantFrom("Deployment" as const, "StatefulSet" as const),
  uid: fc.constantFrom(...names),
  finalizers: fc.constantFrom([], [oldFinalizer]),
  deletionTimestamp: fc.constantFrom(undefined, "2026-01-01T00:00:00Z"),
  optsIn: fc.constantFrom("true", "false"),
  mode: fc.constantFrom("roll", "observe"),
  reads: fc.boolean(),
});

const isWorkload = ({ apiVersion, kind, controller }: OwnerReference) =>
  apiVersion.startsWith("apps/") && kind !== "App" && controller !== true;
const isAnchor = ({ kind, controller }: OwnerReference) => kind === "Namespace" && controller === false;

it("one plan is sufficient, keeps owners of other clients, and adds no workload without the Namespace", () => {
  fc.assert(
    fc.property(
      fc.array(aReference, { maxLength: 5 }),
      fc.array(fc.tuple(fc.constantFrom(...names), aWorkload), { maxLength: 4 }),
      fc.constantFrom("keep" as const, "remove" as const),
      (references, wanted, ownership) => {
        const policy = { ...defaultPolicy, ownership };
        const about = wanted.map(([name, { kind, optsIn, mode, reads, ...metadata }]) => {
          const annotations = { "wave.pusher.com/update-on-config-change": optsIn, "wave.pusher.com/mode": mode };
          const pod = readsAll("ConfigMap", "settings");
          return { reads, workload: workload({ kind, pod, annotations, metadata: { name, ...metadata } }) };
        });
        const byKey = new Map(about.map((each) => [workloadKey(each.workload), each]));
        const plan = (now: readonly OwnerReference[]) =>
          planOwners(
            ownersOf(now, "default", builtInKinds),
            [...byKey.values()].filter(({ reads }) => reads).map((each) => each.workload),
            (key) => byKey.get(key)?.workload,
            policy,
          );
        const first = plan(references);
        const after =
          first === undefined ? references : withPlannedOwners(references, first, "default", "namespace", builtInKinds);

        expect(plan(after)).toBeUndefined();
        const others = (all: readonly OwnerReference[]) => all.filter((each) => !isWorkload(each) && !isAnchor(each));
        expect(others(after)).toEqual(others(references));
        const added = after.filter((each) => !references.includes(each) && isWorkload(each));
        for (const { kind, name, uid } of added) {
          const owner = byKey.get(`${kind}/default/${name}`)?.workload;
          expect([owner?.uid, owner?.oldFinalizer, owner?.deleting]).toEqual([uid, true, false]);
        }
        if (added.length > 0) expect(after.some(isAnchor)).toBe(true);
        // Without the Namespace, no owner workload is left that could cause garbage collection.
        if (references.some(isAnchor) && !after.some(isAnchor)) expect(after.filter(isWorkload)).toEqual([]);
        if (ownership === "remove") expect(added).toEqual([]);
      },
    ),
  );
});
