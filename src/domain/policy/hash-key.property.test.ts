import fc from "fast-check";
import { expect, inject, it } from "vitest";
import { applyJsonPatch } from "../../../sandbox/patches/json-patch.ts";
import { planRollout } from "../../../test/support/domain/decisions.ts";
import { testKey, testKeys } from "../../../test/support/domain/hash-keys.ts";
import { configMap, defaultPolicy, lookupOf, readsAll, workloadObject } from "../../../test/support/domain/objects.ts";
import { planAdmission, toAdmissionObject } from "../admission/admission.ts";
import { kinds } from "../model/kinds/apps-kinds.ts";
import { toWorkload } from "../model/workload.ts";
import type { WorkloadObject } from "../model/workload-references.ts";
import { patchFor } from "../patch/workload-patch.ts";
import { configHash, recordedConfigAnnotation } from "../references/annotations.ts";
import type { HashKeys } from "./hash-key.ts";
import type { Policy } from "./policy.ts";

type Annotations = Readonly<Record<string, string>>;

/** A pod template that was, and for a Deployment the annotations that its ReplicaSet has copied. */
interface Revision {
  readonly hash: string;
  readonly annotations: Annotations | undefined;
}

/** A workload in a cluster, the Secret with the keys, and one replica of Wave, as far as hashes are concerned. */
class World {
  #value = 0;
  #object: WorkloadObject = workloadObject({ pod: readsAll("ConfigMap", "web") });
  readonly #revisions: Revision[] = [];
  /** What each hash was made from. */
  readonly #madeFrom = new Map<string, number>();
  #keysMade = 0;
  #stored: Pick<HashKeys, "current" | "previous"> | undefined;
  #known: HashKeys | undefined;
  readonly #kind: "Deployment" | "StatefulSet";

  constructor(kind: "Deployment" | "StatefulSet") {
    this.#kind = kind;
    this.settle();
  }

  /** Wave plans until nothing is left to write; how often the pod template was written. */
  settle(): number {
    let written = 0;
    for (let tries = 0; ; tries++) {
      expect(tries).toBeLessThan(4);
      const workload = toWorkload(kinds[this.#kind], this.#object);
      const plan = planRollout(workload, this.#lookup, this.#policy);
      const patch = patchFor(workload, plan);
      if (patch === undefined) {
        this.#otherReplicasRestartNobody();
        return written;
      }
      if ("hash" in plan) this.#madeFrom.set(plan.hash, this.#value);
      const before = this.#object.spec;
      this.#object = patched(this.#object, patch);
      if (JSON.stringify(this.#object.spec) !== JSON.stringify(before)) written++;
      this.#revise();
    }
  }

  /** With any known keys: no key, fewer keys, or other keys. */
  #otherReplicasRestartNobody(): void {
    const workload = toWorkload(kinds[this.#kind], this.#object);
    const older = this.#known && { ...this.#known, previous: undefined, remembered: [] };
    for (const hashKeys of [undefined, older, testKeys(1_000_000), testKeys(1_000_000, this.#keysMade)]) {
      const { outcome } = planRollout(workload, this.#lookup, { ...defaultPolicy, hashKeys });
      expect(["current", "recorded"]).toContain(outcome);
    }
  }

  /** Whether the recorded hash does not match the current configuration. */
  get changed(): boolean {
    const [recorded, recordedNow] = this.#object.metadata?.annotations?.[recordedConfigAnnotation]?.split(" ") ?? [];
    return this.#madeFrom.get((recorded === this.#hash && recordedNow) || this.#hash) !== this.#value;
  }

  edit(value: number): void {
    this.#value = value;
  }

  start(on: boolean): void {
    if (on && this.#stored === undefined) this.#stored = { current: this.#newKey(), previous: undefined };
    this.#known = on && this.#stored ? { ...this.#stored, remembered: [] } : undefined;
  }

  rotate(): void {
    if (this.#known === undefined || this.#stored === undefined) return;
    const { current, previous } = this.#stored;
    this.#stored = { current: this.#newKey(), previous: current };
    const remembered = [...this.#known.remembered, ...(previous === undefined ? [] : [previous])];
    this.#known = { ...this.#stored, remembered };
  }

  lose(): void {
    this.#stored = undefined;
  }

  /** As `kubectl rollout undo` does, which restores the annotations of a Deployment too; with webhooks or without. */
  undo(back: number, webhooks: boolean): void {
    const revision = this.#revisions[back % this.#revisions.length];
    if (revision === undefined) return;
    const before = this.#object;
    const annotations = revision.annotations ?? before.metadata?.annotations;
    const reverted = workloadObject({
      pod: readsAll("ConfigMap", "web"),
      templateAnnotations: { [configHash]: revision.hash },
      metadata: { annotations },
    });
    // With the hash of now there is nothing to undo.
    if (revision.hash === this.#hash) return;
    const plan = planAdmission(
      "UPDATE",
      toAdmissionObject(kinds.Deployment, reverted),
      toAdmissionObject(kinds.Deployment, before),
      this.#lookup,
      this.#policy,
    );
    this.#object = webhooks ? patched(reverted, plan.patch ?? []) : reverted;
    if (this.#hash !== revision.hash) this.#madeFrom.set(this.#hash, this.#value);
    this.#revise();
  }

  get #lookup() {
    return lookupOf(configMap("web", { value: String(this.#value) }));
  }

  get #policy(): Policy {
    return { ...defaultPolicy, hashKeys: this.#known };
  }

  get #hash(): string {
    return this.#object.spec?.template?.metadata?.annotations?.[configHash] ?? "";
  }

  /** What Kubernetes does: the ReplicaSet of the present template copies the annotations, those before stay. */
  #revise(): void {
    const hash = this.#hash;
    const index = this.#revisions.findIndex((revision) => revision.hash === hash);
    if (index !== -1) this.#revisions.splice(index, 1);
    const annotations = this.#kind === "Deployment" ? this.#object.metadata?.annotations : undefined;
    this.#revisions.push({ hash, annotations });
  }

  #newKey() {
    return testKey(++this.#keysMade);
  }
}

function patched(object: WorkloadObject, patch: unknown): WorkloadObject {
  const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));
  return asJson(applyJsonPatch(asJson(object), asJson(patch)));
}

type Step =
  | { readonly do: "on" | "off" | "rotate" | "lose" | "restart" | "settle" }
  | { readonly do: "edit"; readonly value: number }
  | { readonly do: "undo"; readonly back: number; readonly webhooks: boolean };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<Step>({ do: "on" }, { do: "off" }, { do: "lose" }, { do: "restart" }) },
  { weight: 2, arbitrary: fc.constantFrom<Step>({ do: "rotate" }, { do: "settle" }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("edit" as const), value: fc.nat({ max: 2 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("undo" as const), back: fc.nat({ max: 9 }), webhooks: fc.boolean() }),
  },
);

it.each(["Deployment", "StatefulSet"] as const)(
  "a key that is added, removed, changed or lost replaces no Pods of a %s, and every real change replaces them once",
  (kind) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const world = new World(kind);
        let on = false;
        let rotated = false;
        const settled = () => {
          const due = world.changed ? 1 : 0;
          expect(world.settle()).toBe(due);
          rotated = false;
        };
        for (const each of steps) {
          switch (each.do) {
            case "edit":
              world.edit(each.value);
              break;
            case "rotate":
              world.rotate();
              rotated = true;
              break;
            case "settle":
              settled();
              break;
            case "undo": {
              settled();
              world.undo(each.back, each.webhooks);
              const { changed } = world;
              const written = world.settle();
              // A hash with a lost key cannot be verified as an earlier one, and its Pods are new anyway.
              expect(changed && !each.webhooks ? [0, 1] : [0]).toContain(written);
              break;
            }
            default:
              // Only what was settled while a key was known survives it.
              if (each.do === "lose" || each.do === "off" || rotated) settled();
              if (each.do === "lose") world.lose();
              if (each.do === "on" || each.do === "off") on = each.do === "on";
              world.start(on);
              settled();
          }
        }
        settled();
      }),
      { numRuns: inject("everything") ? 300 : 100 },
    );
  },
);
