import fc from "fast-check";
import { describe, expect, inject, it } from "vitest";
import type { PodSpec } from "#kubernetes";
import { planRollout } from "../../../../test/support/domain/decisions.ts";
import { configMap, defaultPolicy, lookupOf, workloadObject } from "../../../../test/support/domain/objects.ts";
import { patchFor } from "../../patch/workload-patch.ts";
import { MalformedWorkload, toWorkload, toWorkloadIfValid } from "../workload.ts";
import type { WorkloadObject } from "../workload-references.ts";
import { parseRequestedKind, requestedKindRow } from "./requested-kind.ts";

const wanted = parseRequestedKind("widgets.example.com");
if (wanted === undefined) throw new Error("widgets are a kind");
const row = requestedKindRow(wanted, { apiVersion: "example.com/v1", kind: "Widget" });
const lookup = lookupOf(configMap("web", { a: "1" }));
const source = { name: "web", optional: false };
const pod = {
  initContainers: [{ name: "first", env: [{ name: "A", valueFrom: { configMapKeyRef: { name: "web", key: "a" } } }] }],
  containers: [{ name: "web", envFrom: [{ configMapRef: source }], volumeMounts: [{ name: "v", subPath: "a" }] }],
  volumes: [
    { name: "v", configMap: { ...source, items: [{ key: "a", path: "a" }] } },
    { name: "s", secret: { secretName: "web", optional: true, items: [{ key: "a", path: "b" }] } },
    { name: "p", projected: { sources: [{ configMap: source }, { secret: { name: "web", optional: true } }] } },
    { name: "c", csi: { driver: "secrets-store.csi.k8s.io", volumeAttributes: { secretProviderClass: "vault" } } },
  ],
} as unknown as Partial<PodSpec>;
const annotations = { "wave.pusher.com/config-hash": "v2:00" };
const claims = { volumeClaimTemplates: [{ metadata: { name: "data" } }] };
const good = workloadObject({ pod, templateAnnotations: annotations, spec: { ...claims, replicas: 3 }, status: {} });

/** Every place in a value, as the names on the way to it. */
function placesIn(value: unknown, before: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [before];
  return [before, ...Object.entries(value).flatMap(([name, each]) => placesIn(each, [...before, name]))];
}

/** The same with something else in one place. */
function withOther(object: WorkloadObject, place: readonly string[], other: unknown): WorkloadObject {
  const copy = structuredClone(object);
  let inside = copy as unknown as Record<string, unknown>;
  for (const name of place.slice(0, -1)) inside = inside[name] as Record<string, unknown>;
  inside[place.at(-1) ?? ""] = other;
  return copy;
}

const places = placesIn({ spec: good.spec, status: good.status }).filter((place) => place.length > 0);
const planned = (object: WorkloadObject) => {
  const workload = toWorkloadIfValid(row, object, { ...defaultPolicy, providerClasses: true });
  if (workload === undefined) return undefined;
  const plan = planRollout(workload, lookup, { ...defaultPolicy, providerClasses: true });
  patchFor(workload, plan);
  return workload;
};

describe("an object of a kind whose definition allows anything", () => {
  it("is malformed or is planned, whatever values Wave reads", () => {
    const others = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom(null, 0, -1, 1e308, "", "3", "x".repeat(10_000), [], {}, [null], [[]], { toString: 1 }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...places), others, (place, other) => {
        for (const { name } of planned(withOther(good, place, other))?.references ?? [])
          expect(name).toBeTypeOf("string");
      }),
      { numRuns: inject("everything") ? 2_000 : 600 },
    );
  });

  it("has null fields read as absent", () => {
    const { metadata, spec } = good;
    const nulls = {
      volumes: null,
      initContainers: null,
      containers: [{ env: null, envFrom: [{ secretRef: null, configMapRef: source }] }],
    };
    const object = {
      metadata,
      spec: { template: { metadata: { annotations: null }, spec: nulls } },
    } as unknown as typeof good;
    expect(spec).toBeDefined();
    expect(planned(object)?.references).toMatchObject([{ name: "web", keys: "all" }]);
    expect(planned(object)?.hasTemplateAnnotations).toBe(false);
  });

  it("reports the malformed path without its value", () => {
    const object = withOther(good, ["spec", "template", "spec", "containers", "0", "envFrom"], "hush");
    expect(() => toWorkload(row, object)).toThrow(MalformedWorkload);
    expect(() => toWorkload(row, object)).toThrow(
      /^widgets.example.com "default\/web" is malformed: spec.template.spec.containers\[0\].envFrom is not a list$/,
    );
  });
});
