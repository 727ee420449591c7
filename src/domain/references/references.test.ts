import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { planRollout } from "../../../test/support/domain/decisions.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  readsAll,
  type WorkloadFixture,
  workload,
} from "../../../test/support/domain/objects.ts";
import { type Config, isSharedWith, keysOf, toConfig } from "../config/digest.ts";
import { invalidScheduler } from "../model/scheduling-hold.ts";
import { patchFor } from "../patch/workload-patch.ts";
import { formatCount } from "../syntax/names.ts";
import { limits, maxSharedWithBytes } from "./references.ts";

const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

function plan(wanted: WorkloadFixture, ...configs: Config[]) {
  return planRollout(workload(wanted), lookupOf(...configs), defaultPolicy);
}

/** Returns a Deployment with `count` variables from keys of ConfigMaps that `nameOf` names. */
function variables(count: number, nameOf: (i: number) => string): WorkloadFixture {
  const env = times(count, (i) => ({
    name: `V${i}`,
    valueFrom: { configMapKeyRef: { name: nameOf(i), key: `k${i}`, optional: true } },
  }));
  return { pod: { containers: [{ name: "web", env }] } };
}

function keys(count: number): Record<string, string> {
  return Object.fromEntries(times(count, (i) => [`k${i}`, ""]));
}

function projected(count: number): WorkloadFixture {
  const sources = times(count, (i) => ({ configMap: { name: `m${i}`, optional: true } }));
  const volumeMounts = times(count, (i) => ({ name: "v", mountPath: `/m/${i}`, subPath: `k${i}` }));
  return { pod: { volumes: [{ name: "v", projected: { sources } }], containers: [{ name: "web", volumeMounts }] } };
}

const annotated = (bytes: number): WorkloadFixture => ({
  annotations: { "wave.pusher.com/extra-configmaps": ",".repeat(bytes) },
});

describe("a workload above a limit", () => {
  it.each<[keyof typeof limits, WorkloadFixture, Config[], number]>([
    ["places", variables(limits.places.max + 7, () => "one"), [], 7],
    ["places", projected(3_000), [], 3_000 * 3_000 - limits.places.max],
    ["objects", variables(limits.objects.max + 2, (i) => `m${i}`), [], 2],
  ])("of %s is not planned, and one warning shows count and limit", (limit, wanted, configs, more) => {
    const decided = plan(wanted, ...configs);
    const { max } = limits[limit];
    const pattern = new RegExp(`^Not rolled: ${formatCount(max + more)} .*, limit ${formatCount(max)}\\. `);
    expect(decided).toMatchObject({ outcome: "overLimit", limitExceeded: { limit } });
    expect(patchFor(workload(wanted), decided)).toBeUndefined();
    expect(decided.warnings).toEqual([{ reason: "OverLimit", message: expect.stringMatching(pattern) }]);
    expect(decided.warnings[0]?.message).toContain(limits[limit].advice);
  });

  it("of annotations is not planned, whatever their values are", () => {
    expect(plan(annotated(limits.annotations.max))).toMatchObject({
      outcome: "overLimit",
      limitExceeded: { limit: "annotations" },
      warnings: [{ reason: "OverLimit" }],
    });
    const unknown = { [`wave.pusher.com/${"x".repeat(500_000)}`]: "" };
    expect(plan({ annotations: unknown }).outcome).toBe("overLimit");
  });

  it("is ignored if it has not opted in", () => {
    const { annotations } = annotated(limits.annotations.max);
    const out = { annotations: { ...annotations, "wave.pusher.com/update-on-config-change": undefined } };
    expect(plan(out)).toMatchObject({ outcome: "ignore", warnings: [] });
  });

  it("has no Pods that stay pending for objects that Wave does not read", () => {
    const { pod } = variables(limits.places.max + 1, () => "one");
    const schedulingHeld = { pod: { ...pod, schedulerName: invalidScheduler } };
    expect(plan(schedulingHeld)).toMatchObject({ outcome: "cleanUp", warnings: [{ reason: "OverLimit" }] });
  });
});

describe("a workload that reads an object with too many keys", () => {
  const both = ["page", "large"].map((name) => ({ configMapRef: { name } }));
  const wanted = { pod: { containers: [{ name: "web", envFrom: both }] } };
  const large = (count: number, more: Record<string, string> = {}, resourceVersion = "7") =>
    configMap("large", { ...keys(count), ...more }, { resourceVersion });
  const hashOf = (of: WorkloadFixture, ...configs: Config[]) => {
    const decided = plan(of, ...configs);
    return { hash: "hash" in decided ? decided.hash : undefined, outcome: decided.outcome, warnings: decided.warnings };
  };

  it.each([
    ["one object has more than the limit", 5_001],
    ["two objects together have more than the limit", 4_999],
    ["one object has more keys than Wave parses", 100_000],
  ])("is rolled for other objects and for the data of this one, with a Warning: %s", (_, count) => {
    const page = (a: string) => configMap("page", { a, b: "" });
    const first = hashOf(wanted, page("1"), large(count));
    expect(first.outcome).toBe("firstHash");
    expect(first.warnings).toEqual([
      {
        reason: "OverLimit",
        message: expect.stringMatching(/^ConfigMap "large" has [0-9,]+ keys, .* limit .* is 5,000\./),
      },
    ]);
    expect(hashOf(wanted, page("1"), large(count))).toEqual(first);
    expect(hashOf(wanted, page("2"), large(count)).hash).not.toBe(first.hash);
    expect(hashOf(wanted, page("1"), large(count, { k1: "new" }, "8")).hash).not.toBe(first.hash);
  });

  it("is not rolled for labels, if Wave parses all keys", () => {
    const labelled = configMap("large", keys(5_001), { resourceVersion: "8", labels: { team: "shop" } });
    const page = configMap("page", { a: "1" });
    expect(hashOf(wanted, page, labelled).hash).toBe(hashOf(wanted, page, large(5_001)).hash);
  });

  it("is rolled if it reads one key, and does not wait for that key", () => {
    const valueFrom = { configMapKeyRef: { name: "large", key: "k1" } };
    const one = { pod: { containers: [{ name: "web", env: [{ name: "A", valueFrom }] }] } };
    expect(hashOf(one, large(5_001))).toMatchObject({ outcome: "firstHash" });
    expect(hashOf(one, large(5_001)).hash).not.toBe(hashOf(one, large(5_001, { k1: "new" })).hash);
  });

  it("names the object and no key as the change", () => {
    const before = planRollout(workload(wanted), lookupOf(configMap("page", { a: "1" }), large(10)), defaultPolicy);
    if (!("view" in before)) throw new Error("no view");
    const recorded = workload({ ...wanted, templateAnnotations: { "wave.pusher.com/config-hash": before.view.hash } });
    const now = lookupOf(configMap("page", { a: "1" }), large(5_001));
    const due = planRollout(recorded, now, defaultPolicy, before.view);
    expect([due.outcome, due.reason]).toEqual(["roll", 'ConfigMap "large" changed']);
  });
});

describe("a workload within the limits", () => {
  it("is planned", () => {
    const wanted = variables(limits.places.max, (i) => `m${i % limits.objects.max}`);
    expect(plan(wanted).outcome).toBe("firstHash");
    expect(plan({ pod: readsAll("ConfigMap", "a") }, configMap("a", keys(limits.keys.max))).outcome).toBe("firstHash");
    expect(plan(annotated(limits.annotations.max - 200)).outcome).toBe("current");
  });
});

describe("a ConfigMap above its limit", () => {
  it("is kept with one digest of all data, with the number of its keys and the namespaces that it is shared with", () => {
    const annotations = { "wave.pusher.com/shared-with": "shop" };
    const binaryData = { logo: "" };
    const metadata = { namespace: "default", name: "large", annotations };
    const config = toConfig("ConfigMap", { metadata, data: keys(limits.keysOfObject.max), binaryData });
    expect(config.limitExceeded).toEqual({ limit: "keysOfObject", count: limits.keysOfObject.max + 1 });
    expect([keysOf(config), config.digests.length]).toEqual([[""], 32]);
    expect(isSharedWith(config, "shop")).toBe(true);
  });

  it("is not shared if its annotation is too long", () => {
    const shared = (annotation: string) =>
      configMap("a", {}, { annotations: { "wave.pusher.com/shared-with": annotation } });
    expect(isSharedWith(shared(`shop,${"x,".repeat(maxSharedWithBytes / 2)}`), "shop")).toBe(false);
    expect(isSharedWith(shared(`shop${",".repeat(maxSharedWithBytes - 4)}`), "shop")).toBe(true);
  });

  it("of another namespace reveals nothing if it is not shared", () => {
    const wanted = { annotations: { "wave.pusher.com/extra-configmaps": "other/large" } };
    const large = configMap("large", keys(40_000), { namespace: "other" });
    expect(plan(wanted, large)).toEqual(plan(wanted));
  });
});

it("the limits are in the docs", () => {
  const page = readFileSync(new URL("../../../docs/kinds.md", import.meta.url), "utf8");
  for (const { max, unit, advice } of Object.values(limits)) {
    expect(page).toContain(`| ${formatCount(max)} | ${unit} | ${advice} |`);
  }
  expect(page).toContain(`${formatCount(maxSharedWithBytes)} bytes`);
});
