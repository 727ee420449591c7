import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maxParsedKeys, withoutBulkyFields } from "./json-bytes.ts";

const text = fc.string({ unit: fc.constantFrom('"', "\\", "{", "}", "fieldsV1", ":", "€", "a"), maxLength: 8 });
const fields = fc.dictionary(text, fc.oneof(fc.constant({}), fc.dictionary(text, fc.constant({}))), { maxKeys: 5 });
const padding = "x".repeat(64 * 1024);

describe("a large object without its bulk", () => {
  it("is the same except for its managed fields, regardless of content", () => {
    fc.assert(
      fc.property(fc.array(fields, { maxLength: 3 }), fc.dictionary(text, text), (all, data) => {
        const object = (each: (fieldsV1: object) => object) => ({
          metadata: {
            managedFields: all.map((fieldsV1) => ({ manager: "a", fieldsV1: each(fieldsV1), subresource: "b" })),
          },
          data,
          padding,
        });
        const given = Buffer.from(JSON.stringify(object((fieldsV1) => fieldsV1)));
        expect(JSON.parse(withoutBulkyFields(given).toString())).toEqual(
          JSON.parse(JSON.stringify(object(() => ({})))),
        );
      }),
    );
  });

  it("does not change if it is small or truncated", () => {
    const small = JSON.stringify({ metadata: { managedFields: [{ fieldsV1: { "f:data": {} } }] } });
    expect(withoutBulkyFields(Buffer.from(small)).toString()).toBe(small);
    const broken = `{"data":"${padding}","metadata":{"managedFields":[{"fieldsV1":{"f:da`;
    expect(withoutBulkyFields(Buffer.from(broken)).toString()).toBe(broken);
  });

  it.each(["data", "binaryData"])("has only as many keys of %s as are parsed, the first ones", (field) => {
    const entries = (count: number) => Array.from({ length: count }, (_, index) => [`key-${index},`, `},"${index}"{`]);
    const object = (count: number) => ({
      object: { metadata: { name: "a" }, [field]: Object.fromEntries(entries(count)), type: "Opaque" },
    });
    const cut = (count: number) =>
      JSON.parse(withoutBulkyFields(Buffer.from(JSON.stringify(object(count)))).toString());
    expect(cut(maxParsedKeys)).toEqual(object(maxParsedKeys));
    expect(cut(maxParsedKeys + 1)).toEqual(object(maxParsedKeys));
    expect(cut(2 * maxParsedKeys)).toEqual(object(maxParsedKeys));
  });
});
