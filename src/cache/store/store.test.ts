import { describe, expect, it } from "vitest";
import { Store, type StoreChange } from "./store.ts";

interface Value {
  readonly text: string;
}

function newStore() {
  const changes: StoreChange<Value>[] = [];
  const store: Store<Value> = new Store({
    kind: "ConfigMap",
    same: (a, b) => a.text === b.text,
    onChange: (change) => changes.push(change),
  });
  return { store, changes };
}

/** A store that has completed a first list. */
function syncedStore(values: Readonly<Record<string, Value>>) {
  const { store, changes } = newStore();
  store.beginList();
  for (const [name, value] of Object.entries(values)) store.put("ns", name, value);
  store.endList();
  changes.length = 0;
  return { store, changes };
}

describe("Store", () => {
  it("is synced from the end of its first list", () => {
    const { store } = newStore();
    store.beginList();
    store.put("ns", "a", { text: "1" });
    expect(store.synced).toBe(false);
    store.endList();
    expect([store.synced, store.size, store.get("ns", "a")]).toEqual([true, 1, { text: "1" }]);
  });

  it("shows the old state until a further list is complete, and then the new one", () => {
    const { store } = syncedStore({ gone: { text: "1" }, changed: { text: "1" } });
    store.beginList();
    store.put("ns", "changed", { text: "2" });
    store.put("ns", "new", { text: "1" });
    expect(store.get("ns", "changed")).toEqual({ text: "1" });
    expect(store.get("ns", "new")).toBeUndefined();
    expect([store.size, store.synced]).toEqual([2, true]);
    store.endList();
    expect(store.get("ns", "gone")).toBeUndefined();
    expect([...store.values()]).toEqual([{ text: "2" }, { text: "1" }]);
  });

  it("shows nothing of a further list before it is complete, even if the store was empty before", () => {
    const { store, changes } = syncedStore({});
    store.beginList();
    store.put("ns", "a", { text: "1" });
    expect([store.size, changes]).toEqual([0, []]);
    store.endList();
    expect(changes).toEqual([{ key: "ConfigMap/ns/a", before: undefined, after: { text: "1" }, initial: true }]);
  });

  it("announces what a further list changed, added and removed, and nothing else", () => {
    const old = { same: { text: "1" }, changed: { text: "1" }, gone: { text: "1" } };
    const { store, changes } = syncedStore(old);
    store.beginList();
    store.put("ns", "same", { text: "1" });
    store.put("ns", "changed", { text: "2" });
    store.put("ns", "new", { text: "3" });
    store.endList();
    expect(changes).toEqual([
      { key: "ConfigMap/ns/gone", before: { text: "1" }, after: undefined, initial: true },
      { key: "ConfigMap/ns/changed", before: { text: "1" }, after: { text: "2" }, initial: true },
      { key: "ConfigMap/ns/new", before: undefined, after: { text: "3" }, initial: true },
    ]);
    expect(store.get("ns", "same")).toBe(old.same);
  });

  it("keeps the stored object if an equal one arrives, and announces nothing", () => {
    const held = { text: "1" };
    const { store, changes } = syncedStore({ a: held });
    store.put("ns", "a", { text: "1" });
    expect(store.get("ns", "a")).toBe(held);
    expect(changes).toEqual([]);
  });

  it("announces a change after it is stored", () => {
    const seen: (Value | undefined)[] = [];
    const store: Store<Value> = new Store({
      kind: "ConfigMap",
      same: () => false,
      onChange: () => seen.push(store.get("ns", "a")),
    });
    store.put("ns", "a", { text: "1" });
    store.beginList();
    store.put("ns", "a", { text: "2" });
    store.endList();
    store.delete("ns", "a");
    expect(seen).toEqual([{ text: "1" }, { text: "2" }, undefined]);
  });

  it("keeps objects of the same name in two namespaces apart", () => {
    const { store, changes } = syncedStore({ a: { text: "1" } });
    store.put("other", "a", { text: "2" });
    store.delete("ns", "a");
    expect([...store.values()]).toEqual([{ text: "2" }]);
    expect(changes.map(({ key }) => key)).toEqual(["ConfigMap/other/a", "ConfigMap/ns/a"]);
  });

  it("is synced up to the last event, or to a complete list, even if the list is older", () => {
    const { store } = newStore();
    store.beginList();
    store.recordVersion("7");
    expect(store.syncedUpTo).toBe(0);
    store.endList();
    store.recordVersion("9");
    expect(store.syncedUpTo).toBe(9);
    store.beginList();
    store.recordVersion("4");
    expect(store.syncedUpTo).toBe(9);
    store.endList();
    expect(store.syncedUpTo).toBe(4);
    store.recordVersion("12");
    // A watch that resumes at an earlier position delivers the same events again.
    store.recordVersion("11");
    expect(store.syncedUpTo).toBe(11);
  });
});
