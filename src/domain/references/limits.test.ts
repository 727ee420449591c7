import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
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
import { planRollout } from "../plan/plan.ts";
import { formatCount } from "../syntax/wording.ts";
import { limits, maxSharedWithBytes } from "./limits.ts";

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
    [
      "keys",
      { pod: { containers: [{ name: "web", envFrom: ["a", "b"].map((name) => ({ configMapRef: { name } })) }] } },
      [configMap("a", keys(3_000)), configMap("b", keys(3_000))],
      6_000 - limits.keys.max,
    ],
    [
      "keysOfObject",
      { pod: readsAll("ConfigMap", "a") },
      [configMap("a", keys(40_000))],
      40_000 - limits.keysOfObject.max,
    ],
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

describe("a workload within the limits", () => {
  it("is planned", () => {
    const wanted = variables(limits.places.max, (i) => `m${i % limits.objects.max}`);
    expect(plan(wanted).outcome).toBe("firstHash");
    expect(plan({ pod: readsAll("ConfigMap", "a") }, configMap("a", keys(limits.keys.max))).outcome).toBe("firstHash");
    expect(plan(annotated(limits.annotations.max - 200)).outcome).toBe("current");
  });
});

describe("a ConfigMap above its limit", () => {
  it("is kept without keys or digests, but with their number and the namespaces that it is shared with", () => {
    const annotations = { "wave.pusher.com/shared-with": "shop" };
    const binaryData = { logo: "" };
    const metadata = { namespace: "default", name: "large", annotations };
    const config = toConfig("ConfigMap", { metadata, data: keys(limits.keysOfObject.max), binaryData });
    expect(config.limitExceeded).toEqual({ limit: "keysOfObject", count: limits.keysOfObject.max + 1 });
    expect([keysOf(config), config.digests]).toEqual([[], ""]);
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
  const page = readFileSync(new URL("../../../docs/limits.md", import.meta.url), "utf8");
  for (const { max, unit, advice } of Object.values(limits)) {
    expect(page).toContain(`| ${formatCount(max)} | ${unit} | ${advice} |`);
  }
  expect(page).toContain(`${formatCount(maxSharedWithBytes)} bytes`);
});
