import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Json, type JsonObject, sameJson } from "../objects/json.ts";
import { compareFields, fieldsNamedBy, formatField, valueOfField, withoutField } from "./field-set.ts";
import { fromFieldsV1, toFieldsV1 } from "./fields-v1.ts";
import { applyMergePatch } from "./merge-patch.ts";
import { applyStrategicMergePatch } from "./strategic-merge-patch.ts";

const name = fc.constantFrom("data", "spec", "a.b", "a/b", "containers", "env");
const leaf = fc.oneof(fc.string({ maxLength: 3 }), fc.integer(), fc.boolean());
const item = fc.dictionary(fc.constantFrom("image", "value"), leaf);
const named = fc
  .uniqueArray(fc.constantFrom("x", "y", 'q"uote', "z"), { maxLength: 3 })
  .chain((names) => fc.tuple(...names.map((value) => item.map((fields): JsonObject => ({ ...fields, name: value })))));
const tree = fc.letrec<{ node: Json }>((tie) => ({
  node: fc.oneof({ depthSize: "small" }, leaf, fc.dictionary(name, tie("node"), { maxKeys: 3 })),
})).node;
const object: fc.Arbitrary<JsonObject> = fc.record(
  {
    data: fc.dictionary(name, leaf),
    containers: named,
    finalizers: fc.uniqueArray(fc.constantFrom("f", "g")),
    spec: tree,
  },
  { requiredKeys: [] },
);

/** A merge patch cannot say null as a value, and a field of the wrong kind makes no sense in a strategic one. */
const plain = fc.dictionary(
  name.filter((field) => field === "data" || field === "spec"),
  tree,
);

describe("sets of fields", () => {
  it("survive the form that managedFields carries", () => {
    fc.assert(
      fc.property(object, (value) => {
        const fields = fieldsNamedBy(value);
        expect(fromFieldsV1(toFieldsV1(fields))).toEqual(fields);
      }),
    );
  });

  it("name every value that a change touched, and nothing for no change", () => {
    fc.assert(
      fc.property(object, object, (before, after) => {
        const { changed, removed } = compareFields(before, after);
        // Items of lists are places for their fields, and what is empty is never stored.
        const isValue = (value: JsonObject) => (field: string) =>
          !field.endsWith("}") && !["{}", "[]"].includes(JSON.stringify(valueOfField(value, field)));
        const values = (value: JsonObject) => [...fieldsNamedBy(value)].filter(isValue(value));
        for (const field of values(after)) {
          const same = sameJson(valueOfField(before, field), valueOfField(after, field));
          expect(changed.has(field)).toBe(!same);
        }
        for (const field of values(before)) {
          if (valueOfField(after, field) === undefined) expect(removed).toContain(field);
        }
        expect(compareFields(before, before)).toEqual({ changed: new Set(), removed: new Set() });
      }),
    );
  });

  it("find the value of each path until the value is removed", () => {
    fc.assert(
      fc.property(object, (value) => {
        for (const field of fieldsNamedBy(value)) {
          expect(valueOfField(value, field)).toBeDefined();
          expect(valueOfField(withoutField(value, field), field)).toBeUndefined();
        }
      }),
    );
  });

  it("are formatted for people like those of the API server", () => {
    const [field] = [...fieldsNamedBy({ spec: { containers: [{ name: "c", image: "i" }] } })].filter((path) =>
      path.endsWith("image"),
    );
    expect(formatField(field ?? "")).toBe('.spec.containers[name="c"].image');
  });
});

describe("merge patches", () => {
  it("change nothing the second time", () => {
    fc.assert(
      fc.property(plain, plain, (target, patch) => {
        const once = applyMergePatch(target, patch);
        expect(applyMergePatch(once, patch)).toEqual(once);
      }),
    );
  });

  it("have the same result as strategic patches if there is no list with a key", () => {
    fc.assert(
      fc.property(plain, plain, (target, patch) => {
        expect(sameJson(applyStrategicMergePatch(target, patch), applyMergePatch(target, patch))).toBe(true);
      }),
    );
  });

  it("keep every item that a strategic patch does not name", () => {
    fc.assert(
      fc.property(named, named, (before, patch) => {
        const result = applyStrategicMergePatch({ containers: before }, { containers: patch }) as {
          containers: JsonObject[];
        };
        const names = new Set([...before, ...patch].map((container) => container.name));
        expect(new Set(result.containers.map((container) => container.name))).toEqual(names);
        expect(result.containers).toHaveLength(names.size);
        for (const container of patch) {
          expect(result.containers.find((other) => other.name === container.name)).toMatchObject(container);
        }
      }),
    );
  });
});
