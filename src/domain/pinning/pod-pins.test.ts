import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Pod, PodSpec } from "#kubernetes";
import { patched } from "../../../test/support/domain/patched.ts";
import { pinnedPodCases } from "../../../test/support/domain/pinned-pods.ts";
import { pinnedAnnotation } from "../references/annotations.ts";
import type { Pins } from "./pinned-lookup.ts";
import {
  configMapsOf,
  isUnpinned,
  mirrorAnnotation,
  namesInTemplate,
  type PodPins,
  pinsOf,
  pinsRead,
  pointPod,
  referencedNames,
} from "./pod-pins.ts";

const older: Pins = new Map([
  ["page", "page-aaaaaaaaaa"],
  ["flags", "flags-0000000000"],
]);
const newer: Pins = new Map([
  ["page", "page-bbbbbbbbbb"],
  ["flags", "flags-0000000000"],
]);
const revisions = [newer, older];

/** A pod spec that mounts the first ConfigMap and reads all others as environment. */
function reading(mounted: string, ...env: readonly string[]): PodSpec {
  return {
    containers: [{ name: "web", envFrom: env.map((name) => ({ configMapRef: { name } })) }],
    volumes: [{ name: "files", configMap: { name: mounted } }],
  };
}

const root = { configMap: { name: "kube-root-ca.crt" } };

describe("pinsRead", () => {
  it.each<[string, PodSpec | undefined, readonly Pins[], PodPins]>([
    [
      "only copies of the newest revision",
      reading("page-bbbbbbbbbb", "flags-0000000000"),
      revisions,
      { state: "pinned", revision: 0, live: [] },
    ],
    [
      "only copies of an older revision",
      reading("page-aaaaaaaaaa", "flags-0000000000"),
      revisions,
      { state: "pinned", revision: 1, live: [] },
    ],
    [
      "no copy at all",
      reading("page", "flags"),
      revisions,
      { state: "unpinned", revision: undefined, live: ["flags", "page"] },
    ],
    [
      "a copy and live configuration",
      reading("page", "flags-0000000000"),
      revisions,
      { state: "partly pinned", revision: undefined, live: ["page"] },
    ],
    [
      "all copies, and live configuration in an injected sidecar",
      reading("page-bbbbbbbbbb", "flags-0000000000", "page"),
      revisions,
      { state: "partly pinned", revision: 0, live: ["page"] },
    ],
    [
      "copies of a revision that is not known",
      reading("page-cccccccccc", "flags-0000000000"),
      revisions,
      { state: "pinned", revision: undefined, live: [] },
    ],
    [
      "a ConfigMap live that only another revision pins",
      reading("page-aaaaaaaaaa", "flags"),
      [newer, new Map([["page", "page-aaaaaaaaaa"]])],
      { state: "pinned", revision: 1, live: [] },
    ],
    ["other ConfigMaps only", reading("other"), revisions, { state: "unpinned", revision: undefined, live: [] }],
    ["nothing", { containers: [] }, revisions, { state: "unpinned", revision: undefined, live: [] }],
    [
      "nothing, because the Pod has no spec",
      undefined,
      revisions,
      { state: "unpinned", revision: undefined, live: [] },
    ],
    [
      "configuration of a workload without pins",
      reading("page"),
      [],
      { state: "unpinned", revision: undefined, live: [] },
    ],
    ["nothing of empty pins", reading("page"), [new Map()], { state: "unpinned", revision: undefined, live: [] }],
  ])("judges a Pod that reads %s", (_, spec, pins, expected) => {
    expect(pinsRead(configMapsOf(spec), pins)).toEqual(expected);
  });

  it("finds copies in every field that a Pod can be pointed by", () => {
    const one = (spec: Partial<PodSpec>) =>
      pinsRead(configMapsOf({ containers: [], ...spec }), [new Map([["page", "page-aaaaaaaaaa"]])]);
    const name = "page-aaaaaaaaaa";
    const env = [{ name: "A", valueFrom: { configMapKeyRef: { name, key: "a" } } }];
    for (const spec of [
      { volumes: [{ name: "v", configMap: { name } }] },
      { volumes: [{ name: "v", projected: { sources: [root, { configMap: { name } }] } }] },
      { containers: [{ name: "c", env }] },
      { containers: [{ name: "c", envFrom: [{ configMapRef: { name } }] }] },
      { initContainers: [{ name: "c", env }] },
      { initContainers: [{ name: "c", envFrom: [{ configMapRef: { name } }] }] },
    ])
      expect(one(spec)).toEqual({ state: "pinned", revision: 0, live: [] });
  });

  it("does not take a Secret for a ConfigMap of the same name", () => {
    const spec = { containers: [], volumes: [{ name: "v", secret: { secretName: "page-aaaaaaaaaa" } }] };
    expect(configMapsOf(spec)).toEqual(new Set());
  });
});

describe("isUnpinned", () => {
  const annotations = { "wave.pusher.com/pinned": "web=web-0123456789,page=page-0123456789" };
  const reads = (...names: readonly string[]) => ({
    containers: names.map((name) => ({ name, envFrom: [{ configMapRef: { name } }] })),
  });

  it.each([
    ["reads no copy", annotations, reads("web", "page"), true],
    [
      "reads copies, and has a container that another webhook added",
      annotations,
      reads("web-0123456789", "page"),
      false,
    ],
    ["reads nothing that is pinned", annotations, reads("other"), false],
    ["has no pins", {}, reads("web"), false],
    ["has malformed pins", { "wave.pusher.com/pinned": "web" }, reads("web"), false],
    [
      "reads a ConfigMap that is never pinned",
      { "wave.pusher.com/pinned": "kube-root-ca.crt=kube-root-ca.crt-0123456789" },
      reads("kube-root-ca.crt"),
      false,
    ],
  ])("finds whether a Pod that %s was created without the policy and the webhook", (_, annotations, spec, expected) => {
    expect(isUnpinned({ metadata: { annotations }, spec })).toBe(expected);
  });
});

const podOf = (spec: PodSpec, annotations: Record<string, string>): Pod => ({ metadata: { annotations }, spec });

/** Returns a Pod that is pointed once. */
function pointed(pod: Pod): Pod {
  const pins = pinsOf(pod);
  return pins === undefined ? pod : patched(pod, pointPod(pod, pins));
}

/** The API server stores an empty list like a list that is missing. */
const withoutEmptyLists = (value: unknown) =>
  JSON.parse(JSON.stringify(value), (_, each) => (Array.isArray(each) && each.length === 0 ? undefined : each));

describe("pointPod", () => {
  it.for(pinnedPodCases)("points $title", ({ pinned, annotations, created, pointed: expected }) => {
    const pod = podOf(created, { ...annotations, [pinnedAnnotation]: pinned });
    expect(withoutEmptyLists(pointed(pod).spec)).toEqual(withoutEmptyLists(expected));
  });

  it.for(pinnedPodCases)("changes nothing the second time: $title", ({ pinned, created }) => {
    const once = pointed(podOf(created, { [pinnedAnnotation]: pinned }));
    expect(pointed(once)).toEqual(once);
  });

  it("leaves Pods alone that have no annotation, no spec, or that are mirrors of files", () => {
    const spec: PodSpec = { containers: [], volumes: [{ name: "v", configMap: { name: "web" } }] };
    expect(pinsOf({})).toBeUndefined();
    expect(pinsOf(podOf(spec, {}))).toBeUndefined();
    const pins = new Map([["web", "web-0123456789"]]);
    expect(pointPod({}, pins)).toEqual([]);
    expect(pointPod(podOf(spec, { [mirrorAnnotation]: "x" }), pins)).toEqual([]);
    expect(pointPod(podOf(spec, {}), pins)).toHaveLength(1);
  });

  it("accepts null in place of lists, and references without a name", () => {
    const spec = {
      containers: [{ name: "a", env: null, envFrom: [{ configMapRef: {} }] }],
      initContainers: null,
      volumes: [
        { name: "v", configMap: {} },
        { name: "p", projected: { sources: null } },
      ],
    } as unknown as PodSpec;
    expect(pointPod(podOf(spec, {}), new Map([["web", "web-0123456789"]]))).toEqual([]);
  });

  it("never touches ephemeral containers", () => {
    const spec = {
      containers: [],
      ephemeralContainers: [{ name: "debug", envFrom: [{ configMapRef: { name: "web" } }] }],
    };
    expect(pointPod(podOf(spec, {}), new Map([["web", "web-0123456789"]]))).toEqual([]);
  });

  it("only changes names of pinned ConfigMaps, in any Pod", () => {
    const source = fc.constantFrom("web", "page", "live", "kube-root-ca.crt");
    const reference = fc.record({ name: source, optional: fc.boolean() });
    const env = fc.oneof(
      fc.record({ name: fc.constant("P"), value: fc.string() }),
      reference.map((ref) => ({ name: "V", valueFrom: { configMapKeyRef: { key: "k", ...ref } } })),
      reference.map((ref) => ({ name: "S", valueFrom: { secretKeyRef: { key: "k", ...ref } } })),
    );
    const container = fc.record({
      name: fc.constant("c"),
      env: fc.array(env),
      envFrom: fc.array(reference.map((configMapRef) => ({ configMapRef }))),
    });
    const pinned = "kube-root-ca.crt=kube-root-ca.crt-0123456789,page=page-0123456789,web=web-0123456789";
    const names = new Map([
      ["page", "page-0123456789"],
      ["web", "web-0123456789"],
    ]);
    fc.assert(
      fc.property(fc.array(container), (containers) => {
        const expected = JSON.parse(JSON.stringify(containers), (field, value) =>
          field === "configMapKeyRef" || field === "configMapRef"
            ? { ...value, name: names.get(value.name) ?? value.name }
            : value,
        );
        const pod = podOf({ containers, initContainers: containers }, { [pinnedAnnotation]: pinned });
        expect(pointed(pod).spec).toEqual({ containers: expected, initContainers: expected });
      }),
    );
  });
});

const selector = (name: string) => ({ valueFrom: { configMapKeyRef: { name, key: "k" } } });

describe("referencedNames", () => {
  it("returns every ConfigMap that a pod spec references, and no Secret", () => {
    const spec = {
      containers: [{ env: [selector("a"), { valueFrom: { secretKeyRef: { name: "s", key: "k" } } }] }],
      initContainers: [{ envFrom: [{ configMapRef: { name: "b" } }, { secretRef: { name: "s" } }] }],
      ephemeralContainers: [{ env: [selector("c")] }],
      volumes: [
        { name: "v", configMap: { name: "d" } },
        { name: "w", projected: { sources: [{ configMap: { name: "e" } }, { secret: { name: "s" } }] } },
      ],
    };
    expect([...referencedNames(spec)].sort()).toEqual(["a", "b", "c", "d", "e"]);
  });

  it.each([
    undefined,
    null,
    "x",
    1,
    [],
    { volumes: null },
    { volumes: [{ configMap: null }, { configMap: { name: 1 } }] },
  ])("returns nothing for %j", (spec) => {
    expect(referencedNames(spec).size).toBe(0);
  });
});

describe("namesInTemplate", () => {
  const template = (pinned: unknown) => ({
    metadata: { annotations: { "wave.pusher.com/pinned": pinned } },
    spec: { volumes: [{ configMap: { name: "live" } }] },
  });

  it("returns the copies of the pins and the references", () => {
    const names = namesInTemplate(template("web=web-0123456789,b.c=b.c-0123456789"));
    for (const name of ["web-0123456789", "b.c-0123456789", "live"]) expect(names).toContain(name);
  });

  it("returns the copies of an annotation in a form that this version does not know", () => {
    expect(namesInTemplate(template('{"web":{"copy":"web-0123456789"}}'))).toContain("web-0123456789");
    expect(pinsOf(template('{"web":{"copy":"web-0123456789"}}'))).toBeUndefined();
  });

  it.each([undefined, null, {}, { metadata: null }, template(7), { metadata: { annotations: [] } }])(
    "returns no copy for %j",
    (malformed) => {
      expect([...namesInTemplate(malformed)].filter((name) => name !== "live" && name !== "")).toEqual([]);
    },
  );
});
