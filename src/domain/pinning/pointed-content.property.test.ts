import fc from "fast-check";
import { expect, inject, it } from "vitest";
import type { ConfigMap, PodSpec } from "#kubernetes";
import { applyJsonPatch } from "../../../sandbox/patches/json-patch.ts";
import { planRollout } from "../../../test/support/domain/decisions.ts";
import { defaultPolicy, workload } from "../../../test/support/domain/objects.ts";
import { toConfig } from "../config/digest.ts";
import { type Lookup, missingFrom, viewOfReferences } from "../config/view-of-references.ts";
import { podReferences } from "../model/pod-references.ts";
import { mergeReferences } from "../model/workload-references.ts";
import { rulesFor } from "../policy/rules.ts";
import type { Reference } from "../references/references.ts";
import { contentOf, pinSources } from "./pin-request.ts";
import { copyData, copyName, formatPins, parsePins } from "./pinned-lookup.ts";
import { pointPod } from "./pod-pins.ts";

const long = "l".repeat(253);
/** Its name is cut before a dot and dashes. */
const dotted = `${"d".repeat(239)}--x.${"e".repeat(10)}`;
const names = ["web", "web-0123456789", "a.b", long, `${long.slice(0, 250)}xyz`, dotted];
const keys = ["a", "b", "c"];
const name = fc.constantFrom(...names);
const key = fc.constantFrom(...keys);
const optional = fc.option(fc.boolean(), { nil: undefined });
const items = fc.option(
  fc.array(key, { maxLength: 2 }).map((list) => list.map((each, i) => ({ key: each, path: `p${i}/${each}` }))),
  { nil: undefined },
);

const variable = fc.record({
  name: fc.constantFrom("A", "B"),
  valueFrom: fc.record({ configMapKeyRef: fc.record({ name, optional, key }) }),
});
const containers = (prefix: string, minLength: number) =>
  fc
    .array(
      fc.record({
        env: fc.array(variable, { maxLength: 2 }),
        envFrom: fc.array(fc.record({ configMapRef: fc.record({ name, optional }) }), { maxLength: 2 }),
        volumeMounts: fc.array(
          fc.record({
            name: fc.constantFrom("v0", "v1"),
            mountPath: fc.constant("/m"),
            subPath: fc.constantFrom(undefined, "a", "p0", "p1/b"),
          }),
          { maxLength: 2 },
        ),
      }),
      { minLength, maxLength: 2 },
    )
    .map((list) => list.map((fields, i) => ({ name: `${prefix}${i}`, ...fields })));
const volume = fc.oneof(
  fc.record({ configMap: fc.record({ name, optional, items }) }),
  fc.record({
    projected: fc.record({
      sources: fc.array(fc.record({ configMap: fc.record({ name, optional, items }) }), { maxLength: 2 }),
    }),
  }),
);
const spec = fc
  .record({
    containers: containers("c", 1),
    initContainers: containers("i", 0),
    volumes: fc
      .array(volume, { minLength: 2, maxLength: 2 })
      .map((list) => list.map((fields, i) => ({ name: `v${i}`, ...fields }))),
  })
  .map((each) => JSON.parse(JSON.stringify(each)) as PodSpec);

const values = fc.dictionary(key, fc.constantFrom("MQ==", "Mg=="), { maxKeys: 3 });
/** A ConfigMap, in which no key is in both fields; undefined if it does not exist. */
const content = fc.option(
  fc.tuple(values, values).map(([data, binary]) => ({
    data,
    binaryData: Object.fromEntries(Object.entries(binary).filter(([each]) => !(each in data))),
  })),
  { nil: undefined },
);
const contents = fc.tuple(...names.map(() => content));

function referencesOf(pod: PodSpec): readonly Reference[] {
  const found: Reference[] = [];
  podReferences(pod, "default", (reference) => found.push(reference));
  return mergeReferences(found);
}

const lookupOf =
  (objects: ReadonlyMap<string, ConfigMap>): Lookup =>
  (_kind, _namespace, of) => {
    const object = objects.get(of);
    return object && toConfig("ConfigMap", object);
  };

const named = (of: string, fields: object): ConfigMap => ({ metadata: { namespace: "default", name: of }, ...fields });

it("lets a pointed Pod start and read exactly what the hash includes", () => {
  let pinnedPods = 0;
  fc.assert(
    fc.property(spec, contents, fc.array(name, { maxLength: 1 }), (pod, all, extra) => {
      const live = new Map(names.flatMap((of, i) => (all[i] === undefined ? [] : [[of, named(of, all[i])] as const])));
      const policy = { ...defaultPolicy, pinConfig: true };
      const annotations = {
        "wave.pusher.com/pin-config": "true",
        "wave.pusher.com/extra-configmaps": extra.join(","),
      };
      const of = workload({ annotations, pod });
      const plan = planRollout(of, lookupOf(live), policy);
      fc.pre("view" in plan);
      if (!("view" in plan)) return;
      const sources = pinSources(of, plan.view, lookupOf(live), rulesFor(of, policy)) ?? [];
      const copies = new Map<string, ConfigMap>();
      const pins = new Map<string, string>();
      for (const source of sources) {
        const found = contentOf(source, lookupOf(live)("ConfigMap", "default", source.name));
        if (found === undefined) throw new Error("stale");
        const copy = copyName(source.name, found, 10);
        copies.set(copy, named(copy, copyData(live.get(source.name), found)));
        pins.set(source.name, copy);
      }
      const parsed = pins.size === 0 ? pins : parsePins(formatPins(pins));
      expect(parsed).toEqual(pins);
      const patch = pointPod({ spec: pod }, parsed ?? new Map());
      const pointed = applyJsonPatch({ spec: structuredClone(pod) } as never, patch as never) as unknown as {
        spec: PodSpec;
      };
      const read = referencesOf(pointed.spec);
      expect(read.filter((each) => !copies.has(each.name))).toEqual([]);
      expect(missingFrom(read, lookupOf(copies))).toEqual([]);
      const byCopy = Map.groupBy(pins, ([, copy]) => copy);
      for (const [copy, ofCopy] of byCopy) {
        for (const [source] of ofCopy) {
          const view = viewOfReferences(
            of.references.filter((each) => each.name === source),
            () => lookupOf(copies)("ConfigMap", "default", copy),
          );
          const hashed = plan.view.entries.filter((each) => each.name === source);
          expect(view.entries).toEqual(hashed);
        }
      }
      pinnedPods += pins.size > 0 ? 1 : 0;
    }),
    { numRuns: inject("everything") ? 500 : 150 },
  );
  expect(pinnedPods).toBeGreaterThan(50);
});
