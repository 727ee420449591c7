import fc from "fast-check";
import { expect, inject, it } from "vitest";
import { applyJsonPatch } from "../../../sandbox/patches/json-patch.ts";
import { planRollout } from "../../../test/support/domain/decisions.ts";
import { testKeys } from "../../../test/support/domain/hash-keys.ts";
import { configMap, defaultPolicy, lookupOf, workloadObject } from "../../../test/support/domain/objects.ts";
import { planAdmission, toAdmissionObject } from "../admission/admission.ts";
import { kinds } from "../model/kinds/apps-kinds.ts";
import { toWorkload } from "../model/workload.ts";
import type { WorkloadObject } from "../model/workload-references.ts";
import { patchFor } from "../patch/workload-patch.ts";
import type { ConfigView } from "./hash.ts";

const names = ["a", "b", "c"] as const;
type Name = (typeof names)[number];
type Values = Readonly<Record<Name, number>>;

const pod = { containers: [{ name: "web", envFrom: names.map((name) => ({ configMapRef: { name } })) }] };

/** A workload, its ConfigMaps, the values that its Pods read, and a Wave that rolls it. */
class World {
  values: Values = { a: 0, b: 0, c: 0 };
  pods: Values = this.values;
  readonly ignored = new Set<Name>();
  readonly excluded = new Set<Name>();
  #object: WorkloadObject = workloadObject({ pod });
  #seen: ConfigView | undefined;
  readonly #policy;

  constructor(keyed: boolean) {
    this.#policy = { ...defaultPolicy, hashKeys: keyed ? testKeys(1) : undefined };
  }

  isTracked(name: Name): boolean {
    return !this.ignored.has(name) && !this.excluded.has(name);
  }

  isOld(name: Name): boolean {
    return this.pods[name] !== this.values[name];
  }

  /** A person changes whether an object is tracked. */
  toggle(name: Name, how: "ignored" | "excluded"): void {
    if (!this[how].delete(name)) this[how].add(name);
    const annotations = {
      ...this.#object.metadata?.annotations,
      "wave.pusher.com/exclude-configmaps": [...this.excluded].join(),
    };
    this.#object = { ...this.#object, metadata: { ...this.#object.metadata, annotations } };
  }

  forget(): void {
    this.#seen = undefined;
  }

  /** A person edits the template, which replaces all Pods, through the webhook. */
  editTemplate(image: string): void {
    const request = JSON.parse(JSON.stringify(this.#object));
    request.spec.template.spec.containers[0].image = image;
    const plan = planAdmission(
      "UPDATE",
      toAdmissionObject(kinds.Deployment, request),
      toAdmissionObject(kinds.Deployment, this.#object),
      this.#lookup,
      this.#policy,
    );
    const replaced = JSON.stringify(request.spec) !== JSON.stringify(this.#object.spec);
    this.#object = plan.patch === undefined ? request : patched(request, plan.patch);
    if (replaced) this.pods = this.values;
  }

  /** Plans until nothing is left to write. Returns how often that replaced the Pods. */
  settle(): number {
    let replaced = 0;
    for (let tries = 0; ; tries++) {
      expect(tries).toBeLessThan(4);
      const workload = toWorkload(kinds.Deployment, this.#object);
      const plan = planRollout(workload, this.#lookup, this.#policy, this.#seen);
      if ("view" in plan) this.#seen = plan.view;
      const patch = patchFor(workload, plan);
      if (patch === undefined) return replaced;
      const before = JSON.stringify(this.#object.spec);
      this.#object = patched(this.#object, patch);
      if (JSON.stringify(this.#object.spec) === before) continue;
      replaced++;
      this.pods = this.values;
    }
  }

  get #lookup() {
    const annotationsOf = (name: Name) => (this.ignored.has(name) ? { "wave.pusher.com/ignore": "true" } : {});
    return lookupOf(
      ...names.map((name) => configMap(name, { v: `${this.values[name]}` }, { annotations: annotationsOf(name) })),
    );
  }
}

function patched(object: WorkloadObject, patch: unknown): WorkloadObject {
  const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));
  return asJson(applyJsonPatch(asJson(object), asJson(patch)));
}

type Step =
  | { readonly do: "edit"; readonly name: Name; readonly value: number }
  | { readonly do: "toggle"; readonly name: Name; readonly how: "ignored" | "excluded" }
  | { readonly do: "template"; readonly image: string }
  | { readonly do: "restart" };

const name = fc.constantFrom(...names);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("edit" as const), name, value: fc.nat({ max: 2 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("toggle" as const), name, how: fc.constantFrom("ignored", "excluded") }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("template" as const), image: fc.constantFrom("x", "y") }) },
  { weight: 1, arbitrary: fc.constant({ do: "restart" as const }) },
);

it("an untracked object causes no rollout; when it is tracked again, Pods that read an old version are replaced once", () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { maxLength: 20 }),
      fc.boolean(),
      (rounds, keyed) => {
        const world = new World(keyed);
        expect(world.settle()).toBe(1);
        for (const steps of rounds) {
          for (const each of steps) {
            if (each.do === "edit") world.values = { ...world.values, [each.name]: each.value };
            else if (each.do === "toggle") world.toggle(each.name, each.how);
            else if (each.do === "template") world.editTemplate(each.image);
            else world.forget();
          }
          const tracked = names.filter((each) => world.isTracked(each));
          const due = tracked.some((each) => world.isOld(each));
          // If Pods read an old untracked object, it is not always known which object that is.
          const unclear = names.some((each) => world.isOld(each));
          const replaced = world.settle();
          if (due) expect(replaced).toBe(1);
          else if (!unclear) expect(replaced).toBe(0);
          else expect(replaced).toBeLessThanOrEqual(1);
          for (const each of tracked) expect(world.isOld(each)).toBe(false);
          expect(world.settle()).toBe(0);
        }
      },
    ),
    { numRuns: inject("everything") ? 400 : 130 },
  );
});

it("an object that is ignored together with an unrolled edit causes no rollout until it is tracked again", () => {
  const world = new World(false);
  world.settle();
  world.values = { ...world.values, a: 1 };
  world.toggle("a", "ignored");
  expect(world.settle()).toBe(0);
  world.values = { ...world.values, b: 1 };
  world.toggle("b", "ignored");
  expect(world.settle()).toBe(0);
  world.toggle("b", "ignored");
  expect(world.settle()).toBe(1);
  world.toggle("a", "ignored");
  expect(world.settle()).toBe(0);
});

it("a workload does not wait for an excluded object or for a key of an ignored object", () => {
  const missing = workloadObject({ pod, annotations: { "wave.pusher.com/exclude-configmaps": "b, default/c" } });
  const plan = planRollout(toWorkload(kinds.Deployment, missing), lookupOf(configMap("a", {})), defaultPolicy);
  expect(plan.outcome).toBe("firstHash");
  const named = { configMapKeyRef: { name: "a", key: "gone" } };
  const reader = workloadObject({ pod: { containers: [{ name: "web", env: [{ name: "A", valueFrom: named }] }] } });
  const ignored = configMap("a", {}, { annotations: { "wave.pusher.com/ignore": "true" } });
  const { outcome, reason } = planRollout(toWorkload(kinds.Deployment, reader), lookupOf(ignored), defaultPolicy);
  expect([outcome, reason]).toEqual(["current", "the workload reads no tracked configuration"]);
});
