import { describe, expect, it } from "vitest";
import { applyManifest } from "./apply-manifest.ts";
import type { Json, JsonMap } from "./manifest.ts";

const template = (container: JsonMap, rest: JsonMap = {}): JsonMap => ({
  spec: { template: { spec: { containers: [{ name: "web", image: "nginx", ...container }], ...rest } } },
});

/** Returns the object as the API server stores it. */
const live = (container: JsonMap, rest: JsonMap = {}): JsonMap =>
  template(
    { imagePullPolicy: "Always", terminationMessagePath: "/dev/termination-log", ...container },
    { restartPolicy: "Always", schedulerName: "default-scheduler", ...rest },
  );

const withManager = (object: JsonMap, manager: string, operation: string, fieldsV1: JsonMap): JsonMap => ({
  ...object,
  metadata: { name: "web", managedFields: [{ manager, operation, fieldsV1 }] },
});

describe("a manifest that equals the stored object changes nothing:", () => {
  it.each<[string, JsonMap, JsonMap]>([
    [
      "quantities",
      { resources: { limits: { cpu: "1", memory: "1Gi" } } },
      { resources: { limits: { cpu: "1000m", memory: "1024Mi" } } },
    ],
    ["a number for a quantity", { resources: { limits: { cpu: "500m" } } }, { resources: { limits: { cpu: 0.5 } } }],
    ["what the API server leaves out", {}, { stdin: false, env: [], command: null, workingDir: "" }],
    [
      "zeros that it leaves out",
      { livenessProbe: { periodSeconds: 10 } },
      { livenessProbe: { initialDelaySeconds: 0 } },
    ],
    [
      "items by their names",
      { env: [{ name: "A", value: "1" }, { name: "B" }] },
      {
        env: [
          { name: "A", value: "1" },
          { name: "B", value: "" },
        ],
      },
    ],
    [
      "a port for two protocols",
      {
        ports: [
          { containerPort: 53, protocol: "TCP" },
          { containerPort: 53, protocol: "UDP" },
        ],
      },
      { ports: [{ containerPort: 53 }, { containerPort: 53, protocol: "UDP" }] },
    ],
    [
      "lists as a whole, but for what it fills in",
      { a: [{ fieldPath: "x", apiVersion: "v1" }] },
      { a: [{ fieldPath: "x" }] },
    ],
  ])("%s", (_, stored, manifest) => {
    expect(applyManifest(live(stored), template(manifest))).toEqual(live(stored));
  });
});

describe("a manifest changes only the fields that differ:", () => {
  const containerAfter = (stored: JsonMap, manifest: JsonMap): Json => {
    const { spec } = applyManifest(live(stored), template(manifest)) as {
      spec: { template: { spec: { containers: Json[] } } };
    };
    return spec.template.spec.containers[0];
  };

  it.each<[string, JsonMap, JsonMap, JsonMap]>([
    [
      "a boolean that is no default",
      {},
      { securityContext: { privileged: false } },
      { securityContext: { privileged: false } },
    ],
    [
      "another quantity",
      { resources: { limits: { cpu: "1" } } },
      { resources: { limits: { cpu: "1001m" } } },
      { resources: { limits: { cpu: "1001m" } } },
    ],
    [
      "an item more, after the others",
      { env: [{ name: "A" }, { name: "B" }] },
      { env: [{ name: "C" }, { name: "A" }] },
      { env: [{ name: "A" }, { name: "B" }, { name: "C" }] },
    ],
    [
      "another order",
      { env: [{ name: "A" }, { name: "B" }] },
      { env: [{ name: "B" }, { name: "A" }] },
      { env: [{ name: "B" }, { name: "A" }] },
    ],
    ["a list that is one thing", { args: ["a", "b"] }, { args: ["a"] }, { args: ["a"] }],
    ["null", { command: ["x"] }, { command: null }, {}],
  ])("%s", (_, stored, manifest, expected) => {
    const filledIn = { imagePullPolicy: "Always", terminationMessagePath: "/dev/termination-log" };
    expect(containerAfter(stored, manifest)).toEqual({ name: "web", image: "nginx", ...filledIn, ...expected });
  });
});

describe("a field that was applied before and is absent now is removed,", () => {
  const data = (texts: JsonMap): JsonMap => ({ kind: "ConfigMap", data: texts });

  it("by the annotation of kubectl, and fields of other clients stay", () => {
    const note = JSON.stringify({
      kind: "ConfigMap",
      metadata: { name: "page", annotations: {} },
      data: { a: "1", b: "1" },
    });
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": note, own: "x" };
    const stored = { ...data({ a: "1", b: "1", c: "1" }), metadata: { name: "page", annotations } };
    const manifest = { ...data({ a: "1" }), metadata: { name: "page" } };
    expect(applyManifest(stored, manifest)).toEqual({ ...stored, data: { a: "1", c: "1" } });
  });

  it("but not a key of stringData of a Secret, because only data is stored", () => {
    const note = JSON.stringify({ kind: "Secret", stringData: { a: "1", b: "1" } });
    const metadata = { annotations: { "kubectl.kubernetes.io/last-applied-configuration": note } };
    const stored = { kind: "Secret", metadata, data: { a: "MQ==", b: "MQ==" } };
    const manifest = { kind: "Secret", stringData: { a: "2" } };
    expect(applyManifest(stored, manifest).data).toEqual({ a: "Mg==", b: "MQ==" });
    const fields = { "f:data": { "f:a": {}, "f:b": {} } };
    const ofHelm = withManager({ kind: "Secret", data: { a: "MQ==", b: "MQ==" } }, "helm", "Update", fields);
    expect(applyManifest(ofHelm, manifest).data).toEqual({ a: "Mg==", b: "MQ==" });
    expect(applyManifest(ofHelm, { kind: "Secret", data: { a: "Mg==" } }).data).toEqual({ a: "Mg==" });
  });

  it("by the fields of the server-side apply manager", () => {
    const fields = { "f:data": { "f:a": {}, "f:b": {} } };
    const stored = withManager(data({ a: "1", b: "1", c: "1" }), "kubectl", "Apply", fields);
    expect(applyManifest(stored, data({ a: "1" })).data).toEqual({ a: "1", c: "1" });
  });

  it("by the fields of Helm, except possible defaults of the API server", () => {
    const container = {
      ".": {},
      "f:name": {},
      "f:imagePullPolicy": {},
      "f:resources": {},
      "f:readinessProbe": { "f:tcpSocket": {} },
      "f:env": { 'k:{"name":"A"}': { "f:name": {} }, 'k:{"name":"B"}': { "f:name": {} } },
    };
    const fields = {
      "f:spec": {
        "f:template": { "f:spec": { "f:restartPolicy": {}, "f:containers": { 'k:{"name":"web"}': container } } },
      },
    };
    const stored = live({
      resources: {},
      readinessProbe: { tcpSocket: { port: 80 } },
      env: [{ name: "A" }, { name: "B" }, { name: "C" }],
    });
    const after = applyManifest(withManager(stored, "helm", "Update", fields), template({ env: [{ name: "A" }] }));
    expect(after.spec).toEqual(live({ resources: {}, env: [{ name: "A" }, { name: "C" }] }).spec);
  });

  it("but nothing is removed if no tool applied the object", () => {
    const stored = withManager(data({ a: "1", b: "1" }), "kubectl-edit", "Update", { "f:data": { "f:b": {} } });
    expect(applyManifest(stored, data({ a: "2" })).data).toEqual({ a: "2", b: "1" });
  });
});
