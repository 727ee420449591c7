import { describe, expect, it } from "vitest";
import { configKey } from "../references/references.ts";
import { type Change, changesBetween, describeChanges, describeMissing, describeWaiting } from "./changes.ts";
import { type ViewEntry, viewOf } from "./hash.ts";

const db = { kind: "Secret", namespace: "shop", name: "db" } as const;
const web = { kind: "ConfigMap", namespace: "shop", name: "web" } as const;

describe("messages", () => {
  it("name missing objects, each with its missing keys", () => {
    expect(describeWaiting([{ ...db, key: "password" }], "shop")).toBe('waiting for Secret "db" (key "password")');
    expect(describeMissing([web, { ...db, key: "a" }, { ...db, key: "b" }], "shop")).toBe(
      'ConfigMap "web" and Secret "db" (keys "a" and "b")',
    );
  });

  it("name the namespace of objects in other namespaces", () => {
    expect(describeMissing([db], "other")).toBe('Secret "shop/db"');
  });

  it("escape control characters and text direction marks in names", () => {
    const name = "\u001b[31m\u009b31m\u202e\u2028\u{e0041}";
    const message = describeWaiting([{ ...db, name }], "shop");
    expect(message).toBe('waiting for Secret "\\u001b[31m\\u{9b}31m\\u{202e}\\u{2028}\\u{e0041}"');
  });

  it("are short enough for an Event, whatever is missing", () => {
    const name = "n".repeat(60);
    const missing = Array.from({ length: 100 }, (_, i) => ({ ...db, name: `${name}${i % 20}`, key: `k${i}` }));
    const message = describeWaiting(missing, "shop");
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
