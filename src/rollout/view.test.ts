import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toConfig } from "./digest.ts";
import type { Reading, Reference } from "./references.ts";
import { configMap, lookupOf, secret } from "./test-objects.ts";
import { missingFrom, viewThrough } from "./view.ts";

function reference(name: string, reading: Partial<Reading> = {}): Reference {
  return {
    kind: "ConfigMap",
    namespace: "default",
    name,
    reads: "env",
    keys: "all",
    optional: false,
    path: "",
    ...reading,
  };
}

function binary(data: Record<string, string>, binaryData: Record<string, string>) {
  return lookupOf(toConfig("ConfigMap", { metadata: { namespace: "default", name: "web" }, data, binaryData }));
}

const hello = Buffer.from("hello").toString("base64");

describe("the view", () => {
  it("of all keys tells an empty object from an absent one", () => {
    const references = [reference("web", { optional: true })];
    const absent = viewThrough(references, lookupOf());
    const empty = viewThrough(references, lookupOf(configMap("web", {})));
    expect(absent.entries).toMatchObject([{ name: "web", key: "", digest: undefined }]);
    expect(empty.entries).toMatchObject([{ name: "web", key: "", digest: "" }]);
    expect(empty.hash).not.toBe(absent.hash);
  });

  it("of named keys records an absent one, whether the object exists or not", () => {
    const references = [reference("web", { keys: ["a"], optional: true })];
    const absent = viewThrough(references, lookupOf());
    expect(absent.entries).toMatchObject([{ key: "a", digest: undefined }]);
    expect(viewThrough(references, lookupOf(configMap("web", { b: "1" })))).toEqual(absent);
    expect(viewThrough(references, lookupOf(configMap("web", { a: "1" }))).hash).not.toBe(absent.hash);
  });

  it("is empty for what must only exist", () => {
    const references = [reference("web", { reads: "existence", keys: ["a"] })];
    expect(viewThrough(references, lookupOf(configMap("web", { a: "1" }))).entries).toEqual([]);
  });

  it("of files does not change when a key moves between binaryData and data", () => {
    const references = [reference("web", { reads: "files" })];
    const before = viewThrough(references, binary({}, { a: hello }));
    expect(viewThrough(references, binary({ a: "hello" }, {}))).toEqual(before);
  });

  it.each<[string, Reference[]]>([
    ["envFrom", [reference("web")]],
    ["envFrom and files", [reference("web"), reference("web", { reads: "files" })]],
    ["envFrom and one file", [reference("web"), reference("web", { reads: "files", keys: ["a"] })]],
    ["env and files", [reference("web", { keys: ["a"], optional: true }), reference("web", { reads: "files" })]],
  ])("of %s changes when a key moves from binaryData, which variables do not see, to data", (_, references) => {
    const before = viewThrough(references, binary({}, { a: hello }));
    expect(viewThrough(references, binary({ a: "hello" }, {})).hash).not.toBe(before.hash);
  });

  it("of envFrom does not change with binaryData that nobody reads", () => {
    const references = [reference("web"), reference("web", { reads: "files", keys: ["a"], optional: true })];
    const before = viewThrough(references, binary({ x: "1" }, { a: hello }));
    expect(viewThrough(references, binary({ x: "1" }, { a: hello, b: hello }))).toEqual(before);
  });

  it("never changes with keys that nobody reads, and always with those that are read", () => {
    const name = fc.constantFrom("a", "b", "c", "d");
    const data = fc.dictionary(name, fc.constantFrom("1", "2"));
    fc.assert(
      fc.property(data, data, fc.uniqueArray(name), fc.constantFrom("env", "files"), (one, two, keys, reads) => {
        const references = [reference("web", { reads, keys, optional: true })];
        const hashes = [one, two].map((values) => viewThrough(references, lookupOf(configMap("web", values))).hash);
        const same = keys.every((key) => one[key] === two[key]);
        expect(hashes[0] === hashes[1]).toBe(same);
      }),
    );
  });
});

describe("what is missing", () => {
  it("is the object, where it does not exist, and only required", () => {
    expect(missingFrom([reference("web", { keys: ["b", "a"] })], lookupOf())).toEqual([
      { kind: "ConfigMap", namespace: "default", name: "web" },
    ]);
    expect(missingFrom([reference("web", { optional: true })], lookupOf())).toEqual([]);
  });

  it("is each key by name that the object lacks, sorted and once", () => {
    const references = [
      reference("web", { keys: ["c", "b", "a"] }),
      reference("web", { reads: "files", keys: ["c"] }),
      reference("absent"),
    ];
    expect(missingFrom(references, lookupOf(configMap("web", { b: "1" })))).toEqual([
      { kind: "ConfigMap", namespace: "default", name: "absent" },
      { kind: "ConfigMap", namespace: "default", name: "web", key: "a" },
      { kind: "ConfigMap", namespace: "default", name: "web", key: "c" },
    ]);
  });

  it("is a key of binaryData for a variable but not for a file", () => {
    const lookup = binary({}, { a: hello });
    expect(missingFrom([reference("web", { keys: ["a"] })], lookup)).toMatchObject([{ key: "a" }]);
    expect(missingFrom([reference("web", { reads: "files", keys: ["a"] })], lookup)).toEqual([]);
    expect(missingFrom([reference("web", { reads: "existence", keys: ["a"] })], lookup)).toEqual([]);
  });

  it("is what must only exist and does not", () => {
    const references = [
      reference("web", { reads: "existence", keys: [] }),
      reference("x", { reads: "existence", keys: ["k"] }),
    ];
    const found = missingFrom(references, lookupOf(configMap("x", {}), secret("web", {})));
    expect(found).toMatchObject([{ name: "web" }, { name: "x", key: "k" }]);
    expect(found[0]).not.toHaveProperty("key");
  });
});
