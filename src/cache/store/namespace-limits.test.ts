import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { configMap } from "../../../test/support/domain/objects.ts";
import type { Config } from "../../domain/config/digest.ts";
import { describeLimitExceeded, limits } from "../../domain/references/references.ts";
import { cacheBytesFor, isLeftOut, type NamespaceExceeded, NamespaceLimits, SharedLists } from "./namespace-limits.ts";

const mebibyte = 2 ** 20;

/** Returns an object of about 1 MiB in the cache. */
function large(namespace: string, index: number): Config {
  return { ...configMap(`c${index}`, { a: "1" }), namespace, digests: "x".repeat(mebibyte) };
}

/** Caches objects of 1 MiB until one is left out. Returns how many fit, and why not more. */
function fill(
  cache: NamespaceLimits,
  namespace: string,
): { readonly fit: number; readonly exceeded: NamespaceExceeded } {
  for (let index = 0; ; index++) {
    let exceeded: NamespaceExceeded | undefined;
    const object = large(namespace, index);
    const kept = cache.fit(undefined, object, (found) => {
      exceeded = found;
      return { ...object, digests: "", limitExceeded: found };
    });
    cache.record(undefined, kept);
    if (exceeded !== undefined) return { fit: index, exceeded };
  }
}

describe("the memory of all namespaces", () => {
  it("stays below the limit, and each next namespace finds two thirds of the room that is left", () => {
    const cache = new NamespaceLimits(60 * mebibyte);
    const fits = Array.from({ length: 8 }, (_, index) => fill(cache, `full-${index}`).fit);
    expect(fits).toEqual([19, 19, 14, 5, 1, 1, 0, 0]);
    // A usual object is small.
    const small = { ...configMap("web", { a: "1" }), namespace: "shop" };
    expect(
      isLeftOut(cache.fit(undefined, small, () => ({ ...small, limitExceeded: { limit: "namespace", count: 0 } }))),
    ).toBe(false);
  });

  it("keeps what it holds if other namespaces leave less, as long as the object does not grow", () => {
    const cache = new NamespaceLimits(12 * mebibyte);
    const held = large("shop", 0);
    for (let index = 0; index < 6; index++) cache.record(undefined, large("shop", index));
    for (let index = 0; index < 5; index++) cache.record(undefined, large("other", index));
    const reduce = (limitExceeded: NamespaceExceeded) => ({ ...held, digests: "", limitExceeded });
    expect(isLeftOut(cache.fit(held, { ...held, changedAt: 5 }, reduce))).toBe(false);
    expect(isLeftOut(cache.fit(undefined, large("shop", 9), reduce))).toBe(true);
  });

  it("is limited for one namespace as before, and the message names the lower limit", () => {
    const cache = new NamespaceLimits(23 * mebibyte);
    expect(fill(new NamespaceLimits(), "shop").exceeded).toEqual({ limit: "namespace", count: 21 });
    const { exceeded } = fill(cache, "shop");
    expect(exceeded).toEqual({ limit: "namespace", count: 17, max: 15 });
    expect(describeLimitExceeded(exceeded, String)).toBe(
      "17 MiB that Wave caches for the namespace, limit 15 in the memory that is left. Raise the memory limit of Wave, or name fewer objects and keys in all workloads, ConfigMaps and Secrets of the namespace.",
    );
  });

  it("has room again when another namespace is empty", () => {
    const cache = new NamespaceLimits(40 * mebibyte);
    fill(cache, "first");
    fill(cache, "second");
    expect(cache.hasRoom("second")).toBe(false);
    for (let index = 0; index < 19; index++) cache.record(large("first", index), undefined);
    expect(cache.hasRoom("second")).toBe(true);
  });

  it("follows from the memory limit of the process", () => {
    expect(cacheBytesFor(128 * mebibyte)).toBe(32 * mebibyte);
    expect(cacheBytesFor(256 * mebibyte) / mebibyte).toBeCloseTo(134.4);
    expect(cacheBytesFor(64 * mebibyte)).toBe(limits.namespace.max * mebibyte);
    for (const none of [undefined, 0, 2 ** 63]) expect(cacheBytesFor(none)).toBeGreaterThan(2 ** 60);
  });
});

describe("SharedLists", () => {
  it("returns the same list for equal lists, and different lists otherwise", () => {
    const shared = new SharedLists();
    const first = shared.list(["a", "b"]);
    expect(shared.list(["a", "b"])).toBe(first);
    expect(shared.list(["b", "a"])).toEqual(["b", "a"]);
    expect(shared.list(["ab"])).toEqual(["ab"]);
    expect(shared.list([])).toEqual([]);
  });

  it("keeps no list of many or long strings, which would accumulate with each edit of a large object", () => {
    const shared = new SharedLists();
    const many = () => Array.from({ length: 17 }, (_, index) => `key-${index}`);
    const long = () => ["x".repeat(257)];
    for (const make of [many, long]) {
      const second = make();
      expect(shared.list(make())).toEqual(second);
      expect(shared.list(second)).toBe(second);
    }
  });

  it("returns an equal list, also after the table was cleared", () => {
    const shared = new SharedLists();
    const key = fc.stringMatching(/^[a-z.]{0,3}$/);
    fc.assert(
      fc.property(fc.array(key, { maxLength: 4 }), (list) => {
        const before = [...list];
        expect(shared.list(list)).toEqual(before);
      }),
      { numRuns: 3000 },
    );
  });
});
