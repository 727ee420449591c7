import { describe, expect, it } from "vitest";
import type { ConfigView } from "../../../domain/config/hash.ts";
import { RememberedViews } from "./remembered-views.ts";
import { newRecord, type WorkloadRecord } from "./workload-record.ts";

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
  const records: WorkloadRecord[] = [];
  let dropped = 0;
  const views = new RememberedViews(
    () => records,
    () => dropped++,
  );
  const remember = (keys: number) => {
    const record = newRecord();
    records.push(record);
    views.remember(record, view(`v2:${records.length}`, keys));
    return record;
  };
  const remembered = () => records.filter((record) => record.view !== undefined).length;
  return { views, remember, dropped: () => dropped, remembered };
}

describe("what workloads were last seen to see", () => {
  it("is remembered as it was, the newest, until it is forgotten", () => {
    const { views, remember } = start();
    const record = remember(3);
    expect(record.view).toEqual(view("v2:1", 3));
    views.remember(record, view("v2:other", 2));
    expect([record.view, views.entries]).toEqual([view("v2:other", 2), 2]);
    views.forget(record);
    expect([record.view, views.entries]).toEqual([undefined, 0]);
  });

  it("is not remembered of a workload that sees more than 256 keys, and nothing older instead", () => {
    const { views, remember, dropped } = start();
    const record = remember(256);
    expect(record.view).toBeDefined();
    views.remember(record, view("v2:wide", 257));
    expect([record.view, views.entries, dropped()]).toEqual([undefined, 0, 1]);
  });

  it("has its bound in all, where those go first that see most: a tenant of wide workloads takes nothing from others", () => {
    const { views, remember, dropped, remembered } = start();
    const narrow = Array.from({ length: 1_000 }, () => remember(5));
    for (let wide = 0; wide < 2_000; wide++) {
      remember(200);
      expect(views.entries).toBeLessThanOrEqual(65_536);
    }
    expect(narrow.every((record) => record.view !== undefined)).toBe(true);
    expect(remembered()).toBe(1_000 + 2_000 - dropped());
    expect(dropped()).toBeGreaterThan(1_700);
  });

  it("is remembered of most where all see as much and together too much, and of wide ones again when there is room", () => {
    const { views, remember, remembered } = start();
    const records = Array.from({ length: 3_000 }, () => remember(40));
    expect(remembered()).toBeGreaterThan(1_200);
    const kept = records.find((record) => record.view !== undefined) ?? newRecord();
    views.remember(kept, view("v2:rolled", 40));
    expect(kept.view?.hash).toBe("v2:rolled");
    for (const record of records) views.forget(record);
    expect(views.entries).toBe(0);
    expect(remember(256).view).toBeDefined();
  });
});
