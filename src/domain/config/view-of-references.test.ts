import fc from "fast-check";
import { describe, expect, inject, it } from "vitest";
import { configMap, lookupOf, secret } from "../../../test/support/domain/objects.ts";
import { configKey, type Reading, type Reference } from "../references/references.ts";
import { toConfig } from "./digest.ts";
import { type ViewEntry, viewOf } from "./hash.ts";
import {
  type Change,
  changesBetween,
  describeChanges,
  describeMissing,
  missingFrom,
  viewOfReferences,
} from "./view-of-references.ts";

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
  it.each<[string, Partial<Reading>]>([
    ["all keys as variables", { reads: "env" }],
    ["all keys as files", { reads: "files" }],
    ["named keys", { keys: ["a"] }],
  ])("of %s has the same hash for an object that is missing, empty or has no referenced key", (_, reading) => {
    const references = [reference("web", { optional: true, ...reading })];
    const absent = viewOfReferences(references, lookupOf());
    expect(absent.entries).toEqual([]);
    expect(absent.emptyObjects).toBeUndefined();
    const empty = { ...absent, emptyObjects: new Set(["ConfigMap/default/web"]) };
    expect(viewOfReferences(references, lookupOf(configMap("web", {})))).toEqual(empty);
    const unseen = reading.keys === undefined ? {} : { b: "1" };
    expect(viewOfReferences(references, lookupOf(configMap("web", unseen)))).toEqual(empty);
    expect(viewOfReferences(references, lookupOf(configMap("web", { a: "1" }))).hash).not.toBe(absent.hash);
  });

  it("of envFrom, but not of files, has the same hash for an object with only binaryData and a missing object", () => {
    const hidden = binary({}, { a: hello });
    const env = [reference("web", { optional: true })];
    expect(viewOfReferences(env, hidden).hash).toBe(viewOfReferences(env, lookupOf()).hash);
    const files = [reference("web", { reads: "files", optional: true })];
    expect(viewOfReferences(files, hidden).hash).not.toBe(viewOfReferences(files, lookupOf()).hash);
  });

  it("is empty for objects that must only exist", () => {
    const references = [reference("web", { reads: "existence", keys: ["a"] })];
    expect(viewOfReferences(references, lookupOf(configMap("web", { a: "1" }))).entries).toEqual([]);
  });

  it("of files does not change when a key moves between binaryData and data", () => {
    const references = [reference("web", { reads: "files" })];
    const before = viewOfReferences(references, binary({}, { a: hello }));
    expect(viewOfReferences(references, binary({ a: "hello" }, {}))).toEqual(before);
  });

  it.each<[string, Reference[]]>([
    ["envFrom", [reference("web")]],
    ["envFrom and files", [reference("web"), reference("web", { reads: "files" })]],
    ["envFrom and one file", [reference("web"), reference("web", { reads: "files", keys: ["a"] })]],
    ["env and files", [reference("web", { keys: ["a"], optional: true }), reference("web", { reads: "files" })]],
  ])("of %s changes when a key moves from binaryData to data", (_, references) => {
    const before = viewOfReferences(references, binary({}, { a: hello }));
    expect(viewOfReferences(references, binary({ a: "hello" }, {})).hash).not.toBe(before.hash);
  });

  it("of envFrom does not change with binaryData", () => {
    const references = [reference("web"), reference("web", { reads: "files", keys: ["a"], optional: true })];
    const before = viewOfReferences(references, binary({ x: "1" }, { a: hello }));
    expect(viewOfReferences(references, binary({ x: "1" }, { a: hello, b: hello }))).toEqual(before);
  });

  it("changes exactly with what containers read", () => {
    const name = fc.constantFrom("a", "b", "c");
    const values = fc.dictionary(name, fc.constantFrom("1", "2"));
    const object = fc.option(
      fc.tuple(values, values).map(([data, rest]) => {
        const binaryData = Object.entries(rest).filter(([key]) => !Object.hasOwn(data, key));
        return { data, binaryData: Object.fromEntries(binaryData) };
      }),
    );
    const keys = fc.oneof(fc.constant("all" as const), fc.uniqueArray(name));
    const readings = fc.array(fc.record({ reads: fc.constantFrom("env" as const, "files" as const), keys }), {
      maxLength: 3,
    });
    fc.assert(
      fc.property(object, object, readings, (one, two, read) => {
        const references = read.map((reading) => reference("web", { ...reading, optional: true }));
        const hashOf = (state: typeof one) => {
          const encode = (text: string) => Buffer.from(text).toString("base64");
          const encoded = Object.entries(state?.binaryData ?? {}).map(([key, text]) => [key, encode(text)]);
          const found = state === null ? lookupOf() : binary(state.data, Object.fromEntries(encoded));
          return viewOfReferences(references, found).hash;
        };
        const shown = (state: typeof one) =>
          read.map(({ reads, keys }) => {
            const all = reads === "env" ? state?.data : { ...state?.data, ...state?.binaryData };
            const seen = Object.entries(all ?? {}).filter(([key]) => keys === "all" || keys.some((one) => one === key));
            return JSON.stringify(seen.sort());
          });
        expect(hashOf(one) === hashOf(two)).toBe(JSON.stringify(shown(one)) === JSON.stringify(shown(two)));
      }),
      { numRuns: inject("everything") ? 1000 : 300 },
    );
  });
});

describe("the missing configuration", () => {
  it("is a required object that does not exist", () => {
    expect(missingFrom([reference("web", { keys: ["b", "a"] })], lookupOf())).toEqual([
      { kind: "ConfigMap", namespace: "default", name: "web" },
    ]);
    expect(missingFrom([reference("web", { optional: true })], lookupOf())).toEqual([]);
  });

  it("is each missing key, sorted and once", () => {
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

  it("is an object that must only exist and does not", () => {
    const references = [
      reference("web", { reads: "existence", keys: [] }),
      reference("x", { reads: "existence", keys: ["k"] }),
    ];
    const found = missingFrom(references, lookupOf(configMap("x", {}), secret("web", {})));
    expect(found).toMatchObject([{ name: "web" }, { name: "x", key: "k" }]);
    expect(found[0]).not.toHaveProperty("key");
  });
});

const db = { kind: "Secret", namespace: "shop", name: "db" } as const;
const web = { kind: "ConfigMap", namespace: "shop", name: "web" } as const;

describe("messages", () => {
  it("name missing objects, each with its missing keys", () => {
    expect(describeMissing([{ ...db, key: "password" }], "shop")).toBe('Secret "db" (key "password")');
    expect(describeMissing([web, { ...db, key: "a" }, { ...db, key: "b" }], "shop")).toBe(
      'ConfigMap "web" and Secret "db" (keys "a" and "b")',
    );
  });

  it("name the namespace of objects in other namespaces", () => {
    expect(describeMissing([db], "other")).toBe('Secret "shop/db"');
  });

  it("escape control characters and text direction marks in names", () => {
    const name = "\u001b[31m\u009b31m\u202e\u2028\u{e0041}";
    const message = describeMissing([{ ...db, name }], "shop");
    expect(message).toBe('Secret "\\u001b[31m\\u{9b}31m\\u{202e}\\u{2028}\\u{e0041}"');
  });

  it("are short enough for an Event, whatever is missing", () => {
    const name = "n".repeat(60);
    const missing = Array.from({ length: 100 }, (_, i) => ({ ...db, name: `${name}${i % 20}`, key: `k${i}` }));
    const message = describeMissing(missing, "shop");
    expect(message.length).toBeLessThan(1024);
    expect(message).toContain("and 15 more");
  });

  it("name at most ten objects and keys", () => {
    const keys = ["a", "b", "c", "d", "e", "f"];
    const namesWith = (count: number) => {
      const changed = Array.from({ length: count }, (_, i): Change => ({ ...db, name: `${i}`, how: "changed", keys }));
      return describeChanges(changed, "shop").match(/"/g)?.length;
    };
    expect([1, 2, 3, 5, 9].map((count) => (namesWith(count) ?? 0) / 2)).toEqual([6, 10, 9, 10, 10]);
  });

  it.each<[Partial<Change>, string]>([
    [{ how: "changed", keys: ["a"] }, 'Secret "db" changed (key "a")'],
    [{ how: "changed", keys: ["a", "b", "c"] }, 'Secret "db" changed (keys "a", "b" and "c")'],
    [{ how: "added" }, 'Secret "db" was added'],
    [{ how: "removed" }, 'Secret "db" was removed'],
  ])("describe a change %j", (change, text) => {
    expect(describeChanges([{ ...db, how: "changed", keys: [], ...change }], "shop")).toBe(text);
  });
});

describe("changesBetween", () => {
  const entry = (key: string, digest: string | undefined, name = "db"): ViewEntry => ({ ...db, name, key, digest });
  const changes = (before: ViewEntry[], after: ViewEntry[]) =>
    changesBetween(viewOf(before), viewOf(after)).map(({ name, how, keys }) => `${name} ${how} ${keys}`);

  it("returns only keys that were added, removed or changed", () => {
    const before = [entry("changed", "1"), entry("same", "1"), entry("went", "1")];
    const after = [entry("came", "1"), entry("changed", "2"), entry("same", "1")];
    expect(changes(before, after)).toEqual(["db changed came,changed,went"]);
    expect(changes([entry("a", "1")], [entry("b", "1")])).toEqual(["db changed a,b"]);
  });

  it("returns a key that environment variables can read now", () => {
    expect(changes([entry("a", "1"), entry("a", undefined)], [entry("a", "1")])).toEqual(["db changed a"]);
  });

  it("returns no keys if the whole object was added or removed", () => {
    expect(changes([entry("a", "1", "old")], [entry("a", "1", "young")])).toEqual(["old removed ", "young added "]);
  });

  it("returns the keys that came or went if the object existed before and after", () => {
    const empty = { ...viewOf([]), emptyObjects: new Set([configKey(db)]) };
    const filled = viewOf([entry("a", "1"), entry("b", "1")]);
    const changed = [{ ...db, how: "changed", keys: ["a", "b"] }];
    expect(changesBetween(empty, filled)).toEqual(changed);
    expect(changesBetween(filled, empty)).toEqual(changed);
    expect(changesBetween(empty, viewOf([]))).toEqual([]);
  });

  it("is empty for equal views", () => {
    expect(changes([entry("a", "1")], [entry("a", "1")])).toEqual([]);
  });
});
