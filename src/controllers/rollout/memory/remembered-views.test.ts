import { describe, expect, it } from "vitest";
import type { ConfigView } from "../../../domain/config/hash.ts";
import { RememberedViews } from "./remembered-views.ts";

const view = (hash: string, keys: number): ConfigView => ({
  hash,
  entries: Array.from({ length: keys }, (_, key) => ({
    kind: "ConfigMap",
    namespace: "default",
    name: "web",
    key: `${key}`,
    digest: "d".repeat(32),
  })),
});

function start() {
  const keys: string[] = [];
  let dropped = 0;
  const views = new RememberedViews(() => dropped++);
  const remember = (length: number) => {
    const key = `Deployment/default/${keys.length}`;
    keys.push(key);
    views.remember(key, view(`v2:${keys.length}`, length));
    return key;
  };
  const remembered = () => keys.filter((key) => views.of(key) !== undefined).length;
  return { views, remember, dropped: () => dropped, remembered };
}

describe("the last known view of a workload", () => {
  it("is remembered until a newer one, or until it is forgotten", () => {
    const { views, remember } = start();
    const key = remember(3);
    expect(views.of(key)).toEqual(view("v2:1", 3));
    views.remember(key, view("v2:other", 2));
    expect([views.of(key), views.entries]).toEqual([view("v2:other", 2), 2]);
    views.forget(key);
    expect([views.of(key), views.entries]).toEqual([undefined, 0]);
  });

  it("is replaced if an object without keys came or went, although the hash is the same", () => {
    const { views, remember } = start();
    const key = remember(3);
    for (const emptyObjects of [new Set(["a"]), new Set(["b"]), undefined]) {
      const newer: ConfigView = { ...view("v2:1", 3), ...(emptyObjects && { emptyObjects }) };
      views.remember(key, newer);
      expect(views.of(key)).toEqual(newer);
      expect(views.entries).toBe(emptyObjects === undefined ? 3 : 4);
    }
  });

  it("is not remembered with more than 256 keys, and no older view is kept instead", () => {
    const { views, remember, dropped } = start();
    const key = remember(256);
    expect(views.of(key)).toBeDefined();
    views.remember(key, view("v2:wide", 257));
    expect([views.of(key), views.entries, dropped()]).toEqual([undefined, 0, 1]);
  });

  it("is dropped first if it is long, so that a tenant with long views takes no room from others", () => {
    const { views, remember, dropped, remembered } = start();
    const short = Array.from({ length: 1_000 }, () => remember(5));
    for (let long = 0; long < 2_000; long++) {
      remember(200);
      expect(views.entries).toBeLessThanOrEqual(65_536);
    }
    expect(short.every((key) => views.of(key) !== undefined)).toBe(true);
    expect(remembered()).toBe(1_000 + 2_000 - dropped());
    expect(dropped()).toBeGreaterThan(1_700);
  });

  it("is remembered for most workloads if all have the same length, and for long ones again when there is room", () => {
    const { views, remember, remembered } = start();
    const keys = Array.from({ length: 3_000 }, () => remember(40));
    expect(remembered()).toBeGreaterThan(1_200);
    const kept = keys.find((key) => views.of(key) !== undefined) ?? "";
    views.remember(kept, view("v2:rolled", 40));
    expect(views.of(kept)?.hash).toBe("v2:rolled");
    for (const key of keys) views.forget(key);
    expect(views.entries).toBe(0);
    expect(views.of(remember(256))).toBeDefined();
  });
});
