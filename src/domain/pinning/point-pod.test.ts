import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Pod, PodSpec } from "#kubernetes";
import { patched } from "../../../test/support/domain/patched.ts";
import { pinnedPodCases } from "../../../test/support/domain/pinned-pods.ts";
import { pinnedAnnotation } from "../references/annotations.ts";
import { mirrorAnnotation, pinsOfPod, pointPod } from "./point-pod.ts";

const podOf = (spec: PodSpec, annotations: Record<string, string>): Pod => ({ metadata: { annotations }, spec });

/** Returns a Pod that is pointed once. */
function pointed(pod: Pod): Pod {
  const pins = pinsOfPod(pod);
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
    expect(pinsOfPod({})).toBeUndefined();
    expect(pinsOfPod(podOf(spec, {}))).toBeUndefined();
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
