import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decide, planRollout } from "../../../test/support/domain/decisions.ts";
import {
  configMap,
  defaultPolicy,
  lookupOf,
  pinnedCopy,
  unpaced,
  workload,
} from "../../../test/support/domain/objects.ts";
import { toConfig } from "../config/digest.ts";
import type { Workload } from "../model/workload-shape.ts";
import { formatPins, hasOutgrownPins, maxPinnedLength, type Pins, parsePins, readablePins } from "./pinned-lookup.ts";

const both = "other=other-0000000001,page=page-0000000001";
const lookup = lookupOf(
  configMap("page", { a: "2", b: "2" }),
  pinnedCopy("page-0000000001", { a: "1" }),
  pinnedCopy("other-0000000001", { a: "1" }),
);

/** Returns a workload that reads these keys of its ConfigMaps, "page" and "other". */
function web(pinned: string, page: Readonly<Record<string, boolean>>) {
  const env = Object.entries(page).map(([key, optional]) => ({
    name: key,
    valueFrom: { configMapKeyRef: { name: "page", key, optional } },
  }));
  const envFrom = [{ configMapRef: { name: "other" } }];
  const templateAnnotations = { "wave.pusher.com/pinned": pinned };
  return workload({ templateAnnotations, pod: { containers: [{ name: "web", env, envFrom }] } });
}

it.each([
  ["keeps copies with all keys", both, { a: false }, { a: false }, both, []],
  ["removes a copy that lacks a required key", both, { a: false }, { b: false }, "other=other-0000000001", ["page"]],
  [
    "removes a copy that lacks a key of the new template",
    both,
    { a: false },
    { b: true },
    "other=other-0000000001",
    ["page"],
  ],
  ["keeps a copy without a key that its source did not have", both, { a: true, b: true }, { b: true }, both, []],
  ["keeps a copy of the template itself", both, undefined, { a: false, b: true }, both, []],
  ["removes the last copy", "page=page-0000000001", { a: false }, { b: false }, undefined, ["page"]],
  ["removes a copy that is gone", "page=page-0000000002", { a: false }, { a: false }, undefined, ["page"]],
  ["keeps malformed pins", "page", { a: false }, { b: false }, "page", []],
])("%s", (_, pinned, before, after, expected, live) => {
  expect(readablePins(web(pinned, after), before && web(pinned, before), lookup)).toEqual({ pinned: expected, live });
});

const now = Date.UTC(2026, 0, 6, 12);
const policy = { ...defaultPolicy, pinConfig: true, pacing: unpaced };

const podWith = (keys: readonly string[]) => {
  const env = keys.map((key) => ({ name: key, valueFrom: { configMapKeyRef: { name: "page", key, optional: true } } }));
  return { containers: [{ name: "web", env }] };
};
const recorded = planRollout(workload({ pod: podWith(["a"]) }), lookupOf(configMap("page", { a: "1" })), policy);

const templateWrittenAt = (at: number) => ({ revision: at, at, editedAt: at, isFirst: false, hasOnlyNewPods: true });

/** Plans a workload that was rolled at 10 s and now reads these keys; its copy has key `a`. */
function planned(keys: readonly string[], change: Partial<Workload> = {}, changedAt = 5, annotations = {}) {
  const of = workload({
    pod: podWith(keys),
    annotations: { "wave.pusher.com/pin-config": "true", "wave.pusher.com/window": "Tue 03:00-04:00", ...annotations },
    templateAnnotations: {
      "wave.pusher.com/config-hash": "hash" in recorded ? recorded.hash : "",
      "wave.pusher.com/pinned": "page=page-0000000001",
    },
  });
  const live = lookupOf(
    { ...configMap("page", { a: "1", b: "1" }), changedAt },
    pinnedCopy("page-0000000001", { a: "1" }),
  );
  const moment = { now, changes: undefined, lastWrite: undefined, progressSince: now };
  const plan = decide({
    workload: { ...of, rolledAt: 10, templateEditedAt: 20, templateWrite: templateWrittenAt(20), ...change },
    lookup: live,
    policy,
    moment,
  });
  return plan.outcome === "held" ? plan.hold.reason : plan.outcome;
}

describe("a pod template that reads keys that its copies lack", () => {
  it("is rolled at once, because its Pods are being replaced", () => {
    expect(planned(["a", "b"])).toBe("roll");
  });

  it.each<[string, () => string]>([
    ["its last write is not known", () => planned(["a", "b"], { templateWrite: undefined })],
    ["the last edit changed another field", () => planned(["a", "b"], { templateWrite: templateWrittenAt(4) })],
    ["only an annotation names more keys", () => planned(["a"], {}, 5, { "wave.pusher.com/extra-configmaps": "page" })],
    ["the ConfigMap changed after it", () => planned(["a", "b"], {}, 21)],
    ["Wave wrote it later", () => planned(["a", "b"], { rolledAt: 30, templateWrite: templateWrittenAt(30) }, 25)],
  ])("waits as any other workload if %s", (_when, plan) => {
    expect(plan()).toBe("window");
  });

  it("is current if its copies have all keys that exist", () => {
    expect(planned(["a", "missing"])).toBe("current");
  });

  it.each([
    ["waits if a file shows the key of the copy in the other field", "files", "binaryData", "data", false],
    ["waits if a file shows the binary key of the copy in the other field", "files", "data", "binaryData", false],
    ["waits for no variable, because the key of the copy sets none", "env", "binaryData", "data", true],
    ["waits if the key sets a variable no longer", "env", "data", "binaryData", false],
  ] as const)("%s", (_, reads, inCopy, inSource, isOutgrown) => {
    const configMap = { name: "page" };
    const of = workload({
      pod: {
        containers: [{ name: "web", envFrom: reads === "env" ? [{ configMapRef: configMap }] : [] }],
        volumes: reads === "env" ? [] : [{ name: "page", configMap }],
      },
      templateAnnotations: { "wave.pusher.com/pinned": "page=page-0000000001" },
    });
    const stored = (name: string, field: string) =>
      toConfig("ConfigMap", { metadata: { namespace: "default", name }, [field]: { a: "YQ==" } });
    const copy = { ...stored("page-0000000001", inCopy), isCopy: true } as const;
    const live = lookupOf({ ...stored("page", inSource), changedAt: 5 }, copy);
    expect(hasOutgrownPins({ ...of, templateWrite: templateWrittenAt(20) }, live)).toBe(isOutgrown);
  });

  it("waits for a person who holds the workload", () => {
    expect(planned(["a", "b"], {}, 5, { "wave.pusher.com/hold": "true" })).toBe("hold");
    expect(planned(["a", "b"], {}, 5, { "wave.pusher.com/mode": "approve" })).toBe("approval");
  });
});

const long = `a${"b".repeat(252)}`;

describe("parsePins", () => {
  it.each<[string, Pins]>([
    ["web=web-0123456789", new Map([["web", "web-0123456789"]])],
    ["web=web-0123456789abcdef0123", new Map([["web", "web-0123456789abcdef0123"]])],
    ["a.b--c=a.b--c-0123456789", new Map([["a.b--c", "a.b--c-0123456789"]])],
    [`${long}=${long.slice(0, 242)}-0123456789`, new Map([[long, `${long.slice(0, 242)}-0123456789`]])],
    [
      "b=b-00000000ff,a=a-0123456789",
      new Map([
        ["b", "b-00000000ff"],
        ["a", "a-0123456789"],
      ]),
    ],
  ])("reads %j", (text, pins) => {
    expect(parsePins(text)).toEqual(pins);
  });

  it.each([
    "",
    ",",
    "a",
    "a=",
    "=a-0123456789",
    "=-0123456789",
    "a=a",
    "a=a-012345678",
    "a=a-01234567890",
    "a=a-ABCDEF0123",
    "a=a-Absent",
    "a=-0123456789",
    "a=b-0123456789",
    "a=ab-0123456789",
    "a=a-0123456789,",
    ",a=a-0123456789",
    " a=a-0123456789",
    "a=a-0123456789 ",
    "a=a-0123456789\n",
    "a=a-0123456789=",
    "a=a-0123456789=b",
    "a=a-0123456789;b=b-0123456789",
    "A=A-0123456789",
    "a..b=a..b-0123456789",
    "a.=a.-0123456789",
    "-a=-a-0123456789",
    "a/b=a/b-0123456789",
    "é=é-0123456789",
    "a=a-\uff10123456789",
    "a\u200b=a-0123456789",
    "a=a-0123456789,a=a-0123456789",
    "a=a-0123456789,a=b-0123456789",
    "a=a-0123456789,B=B-0123456789",
    "a=a-0123456789,a-0123456789=a-0123456789-0123456789",
    `${long}b=${long.slice(0, 242)}-0123456789`,
    `${long}=${long.slice(0, 243)}-0123456789`,
  ])("returns undefined for the malformed annotation %j", (text) => {
    expect(parsePins(text)).toBeUndefined();
  });

  it("returns undefined for an annotation above the limit, however long it is", () => {
    const text = (count: number) => Array.from({ length: count }, (_, i) => `c${i}=c${i}-0123456789`).join(",");
    expect(parsePins(text(700))?.size).toBe(700);
    expect(text(1000).length).toBeGreaterThan(maxPinnedLength);
    expect(parsePins(text(1000))).toBeUndefined();
    expect(parsePins("a-".repeat(131_072))).toBeUndefined();
  });

  it("reads what formatPins returns, which is sorted", () => {
    const name = fc.stringMatching(/^[a-z0-9]{1,5}$/);
    const suffix = fc.stringMatching(/^(?:[0-9a-f]{10}|[0-9a-f]{20})$/);
    const entry = fc.tuple(name, suffix);
    fc.assert(
      fc.property(fc.uniqueArray(entry, { selector: ([source]) => source, minLength: 1 }), (entries) => {
        const pins = new Map(entries.map(([source, digits]) => [source, `${source}-${digits}`]));
        const text = formatPins(pins);
        expect(parsePins(text)).toEqual(pins);
        expect(text.split(",")).toEqual(text.split(",").toSorted());
        expect(formatPins(parsePins(text) ?? new Map())).toBe(text);
      }),
    );
  });
});
