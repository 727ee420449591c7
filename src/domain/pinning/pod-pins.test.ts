import { describe, expect, it } from "vitest";
import type { PodSpec } from "#kubernetes";
import type { Pins } from "./pins.ts";
import { configMapsOf, isUnpinned, type PodPins, podPins } from "./pod-pins.ts";

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

describe("podPins", () => {
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
    expect(podPins(spec, pins)).toEqual(expected);
  });

  it("finds copies in every field that a Pod can be pointed by", () => {
    const one = (spec: Partial<PodSpec>) =>
      podPins({ containers: [], ...spec }, [new Map([["page", "page-aaaaaaaaaa"]])]);
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
