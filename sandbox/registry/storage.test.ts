import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ApiObject } from "../objects/object.ts";
import { resources } from "../objects/resources.ts";
import { keyOf, Storage } from "./storage.ts";

function configMap(name: string, value: number): ApiObject {
  const metadata = { name, namespace: "n", uid: name, resourceVersion: "", creationTimestamp: "" };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data: { value: String(value) } };
}

const write = fc.record({ name: fc.constantFrom("a", "b", "c"), remove: fc.boolean(), value: fc.nat(9) });

describe("storage", () => {
  it("shows every earlier state within its history, and reports where the history ends", () => {
    const check = fc.property(fc.array(write, { maxLength: 60 }), fc.nat(30), (writes, historySize) => {
      const storage = new Storage(historySize);
      const moments = new Map([[storage.revision, storage.list(resources.configMaps)]]);
      let written = 0;
      for (const { name, remove, value } of writes) {
        const before = storage.revision;
        if (remove) storage.remove(resources.configMaps, "n", name);
        else storage.put(resources.configMaps, configMap(name, value));
        written += storage.revision - before;
        moments.set(storage.revision, storage.list(resources.configMaps));
      }
      for (const [revision, objects] of moments) {
        const lost = storage.revision - revision > historySize;
        expect(storage.listAt(revision, resources.configMaps)).toEqual(lost ? undefined : objects);
      }
      expect(storage.revision).toBe(1 + written);
    });
    fc.assert(check);
  });

  it("reports writes whose repetition in order leads to its content", () => {
    const check = fc.property(fc.array(write, { maxLength: 60 }), (writes) => {
      const storage = new Storage(1_000);
      const replica = new Map<string, ApiObject>();
      storage.subscribe(({ before, after }) => {
        const object = after ?? before;
        if (object === undefined) return;
        expect(replica.get(keyOf(object))).toBe(before);
        if (after === undefined) replica.delete(keyOf(object));
        else replica.set(keyOf(object), after);
      });
      for (const { name, remove, value } of writes) {
        if (remove) storage.remove(resources.configMaps, "n", name);
        else storage.put(resources.configMaps, configMap(name, value));
      }
      const held = storage.list(resources.configMaps);
      expect([...replica.values()].toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))).toEqual(held);
    });
    fc.assert(check);
  });
});
