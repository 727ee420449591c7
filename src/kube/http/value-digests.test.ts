import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type DigestedKind, digestValues } from "./value-digests.ts";

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({
    unit: fc.constantFrom('"', "\\", "{", "}", "data", "annotations", ":", ",", "€", "😀", "\ud800", "\n", "\u0001"),
    maxLength: 8,
  }),
);
const bytes = fc.uint8Array({ maxLength: 70 });
const base64 = bytes.map((value) => Buffer.from(value).toString("base64"));
/** JSON.parse of Node.js 24 reads the key `\"` as `\` after an object with that key. Kubernetes allows neither of them. */
const key = text.filter((each) => !each.includes("\\"));
const map = (value: fc.Arbitrary<string>) => fc.dictionary(key, value, { maxKeys: 4 });

/** A JSON string with any of its characters escaped. */
const escaped = (value: string, escapeAt: (index: number) => boolean) =>
  `"${Array.from({ length: value.length }, (_, at) =>
    escapeAt(at) || /["\\\p{Cc}]/u.test(value[at] ?? "") || /[\ud800-\udfff]/.test(value[at] ?? "")
      ? `\\u${value.charCodeAt(at).toString(16).padStart(4, "0")}`
      : value[at],
  ).join("")}"`;

/** Writes JSON with white space and escapes that depend on `seed`. */
function write(value: unknown, seed: number): string {
  const space = ["", " ", "\n\t"][seed % 3] ?? "";
  if (typeof value === "string") return escaped(value, (at) => (at + seed) % 5 === 0);
  if (Array.isArray(value)) return `[${value.map((each) => write(each, seed)).join(`,${space}`)}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([key, each]) => `${write(key, seed)}${space}:${space}${write(each, seed)}`,
  );
  return `{${space}${members.join(`${space},${space}`)}${space}}`;
}

const digestOf = (value: string, encoding: "utf8" | "base64") => ({
  sha256: createHash("sha256").update(Buffer.from(value, encoding)).digest("binary"),
  bytes: Buffer.byteLength(value),
});

const digested = (values: Record<string, string> | undefined, encoding: "utf8" | "base64") =>
  values && Object.fromEntries(Object.entries(values).map(([key, value]) => [key, digestOf(value, encoding)]));

const object = fc.record(
  {
    data: map(base64),
    text: map(text),
    metadata: fc.record({ name: text, annotations: fc.dictionary(fc.oneof(key, fc.constant(lastApplied)), text) }),
    type: text,
    immutable: fc.boolean(),
  },
  { requiredKeys: ["metadata", "data", "text"] },
);

describe("the digests in place of values", () => {
  it.each<DigestedKind>(["Secret", "ConfigMap"])("are those of the values that JSON.parse finds in a %s", (kind) => {
    const fields = kind === "Secret" ? (["data", "stringData"] as const) : (["binaryData", "data"] as const);
    fc.assert(
      fc.property(fc.array(object, { minLength: 1, maxLength: 3 }), fc.option(fc.nat(30)), (given, seed) => {
        const build = (
          of: (values: Record<string, string>, encoding: "utf8" | "base64") => unknown,
          last: (value: string) => string,
        ) =>
          given.map(({ data, text, metadata, ...rest }) => ({
            ...rest,
            [fields[0]]: of(data, "base64"),
            metadata: {
              ...metadata,
              annotations: Object.fromEntries(
                Object.entries(metadata.annotations).map(([key, each]) => [
                  key,
                  key === lastApplied ? last(each) : each,
                ]),
              ),
            },
            [fields[1]]: of(text, "utf8"),
          }));
        const event = {
          type: "ADDED",
          items: build(
            (values) => values,
            (last) => last,
          ),
        };
        const json = Buffer.from(seed === null ? JSON.stringify(event) : write(event, seed));
        expect(JSON.parse(digestValues(json, kind))).toEqual({ type: "ADDED", items: build(digested, () => "") });
      }),
    );
  });

  it("are the last ones of a repeated key, as in JSON.parse", () => {
    const json = `{"data":{"a":"MQ=="},"d\\u0061ta":{"a":"Mg==","\\u0061":"Mw=="}}`;
    expect(JSON.parse(digestValues(Buffer.from(json), "Secret"))).toEqual({ data: { a: digestOf("Mw==", "base64") } });
  });

  it("are digests of what Node.js decodes, if base64 is not in its standard form", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."Ab9+/-_= \n=") }), (value) => {
        const json = Buffer.from(JSON.stringify({ data: { a: value } }));
        const decoded = createHash("sha256").update(Buffer.from(value, "base64")).digest("binary");
        expect(JSON.parse(digestValues(json, "Secret")).data.a.sha256).toBe(decoded);
      }),
    );
  });

  it("leave no value in JSON that ends early or has other types", () => {
    const secret = Buffer.from("marker").toString("base64");
    const whole = `{"data":{"a":"${secret}","b":null,"c":{"d":["${secret}"]},"e":"${secret}"},"kind":"Secret"}`;
    expect(digestValues(Buffer.from(whole), "Secret")).not.toContain(secret);
    expect(JSON.parse(digestValues(Buffer.from(whole), "Secret")).data).toMatchObject({ b: null, c: 0 });
    for (let end = 0; end < whole.length; end++)
      expect(digestValues(Buffer.from(whole.slice(0, end)), "Secret")).not.toContain(secret);
  });
});
