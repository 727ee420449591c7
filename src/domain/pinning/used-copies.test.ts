import { describe, expect, it } from "vitest";
import { namesInTemplate, pinsOfTemplate, referencedNames } from "./used-copies.ts";

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
    expect(pinsOfTemplate(template('{"web":{"copy":"web-0123456789"}}'))).toBeUndefined();
  });

  it.each([undefined, null, {}, { metadata: null }, template(7), { metadata: { annotations: [] } }])(
    "returns no copy for %j",
    (malformed) => {
      expect([...namesInTemplate(malformed)].filter((name) => name !== "live" && name !== "")).toEqual([]);
    },
  );
});
