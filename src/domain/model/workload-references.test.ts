import { describe, expect, it } from "vitest";
import type { PodSpec } from "#kubernetes";
import { workload, workloadObject } from "../../../test/support/domain/objects.ts";
import { collectReferences } from "./workload-references.ts";

/** What a pod spec reads, as `kind name reads keys optional? path`, the path without what they all begin with. */
function read(pod: Partial<PodSpec>): string[] {
  return collectReferences(workloadObject({ pod })).map(({ kind, namespace, name, reads, keys, optional, path }) => {
    expect(namespace).toBe("default");
    const what = keys === "all" ? "all" : `[${keys.join()}]`;
    return `${kind} ${name} ${reads} ${what}${optional ? " optional" : ""} ${path.replace("spec.template.spec.", "")}`;
  });
}

describe("collectReferences", () => {
  it("reads one key of env.valueFrom", () => {
    const env = [
      { name: "A", value: "plain" },
      { name: "B", valueFrom: { configMapKeyRef: { name: "web", key: "b" } } },
      { name: "C", valueFrom: { secretKeyRef: { name: "db", key: "c", optional: true } } },
      { name: "D", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
    ];
    expect(read({ containers: [{ name: "web", env }] })).toEqual([
      "ConfigMap web env [b] containers[0].env[1].valueFrom.configMapKeyRef",
      "Secret db env [c] optional containers[0].env[2].valueFrom.secretKeyRef",
    ]);
  });

  it("reads all keys of envFrom", () => {
    const envFrom = [{ configMapRef: { name: "web" } }, { prefix: "X_", secretRef: { name: "db", optional: true } }];
    expect(read({ containers: [{ name: "web", envFrom }] })).toEqual([
      "ConfigMap web env all containers[0].envFrom[0].configMapRef",
      "Secret db env all optional containers[0].envFrom[1].secretRef",
    ]);
  });

  it("reads initContainers, which include sidecars", () => {
    const initContainers = [{ name: "sidecar", restartPolicy: "Always", envFrom: [{ secretRef: { name: "db" } }] }];
    expect(read({ initContainers })).toEqual(["Secret db env all initContainers[0].envFrom[0].secretRef"]);
  });

  it("reads volumes and projected sources, even if no container mounts them", () => {
    const volumes = [
      { name: "empty", emptyDir: {} },
      { name: "web", configMap: { name: "web" } },
      { name: "db", secret: { secretName: "db", optional: true } },
      {
        name: "both",
        projected: {
          sources: [
            { serviceAccountToken: { path: "token" } },
            { configMap: { name: "web", items: [{ key: "a", path: "x/a" }] } },
            { secret: { name: "tls", optional: true } },
          ],
        },
      },
    ];
    const volumeMounts = [
      { name: "web", mountPath: "/web" },
      { name: "db", mountPath: "/db" },
    ];
    expect(read({ volumes, containers: [{ name: "web", volumeMounts }] })).toEqual([
      "ConfigMap web files all volumes[1].configMap",
      "Secret db files all optional volumes[2].secret",
      "ConfigMap web files [a] volumes[3].projected.sources[1].configMap",
      "Secret tls files all optional volumes[3].projected.sources[2].secret",
    ]);
  });

  it("ignores imagePullSecrets and the secrets of storage drivers, which no container reads", () => {
    const volumes = [{ name: "csi", csi: { driver: "x", nodePublishSecretRef: { name: "driver" } } }];
    expect(read({ imagePullSecrets: [{ name: "registry" }], volumes })).toEqual([]);
  });

  it("ignores a volume that a claim of a StatefulSet replaces", () => {
    const pod = { volumes: [{ name: "data", secret: { secretName: "db" } }] };
    const spec = { volumeClaimTemplates: [{ metadata: { name: "data" } }] };
    expect(collectReferences(workloadObject({ kind: "StatefulSet", pod, spec }))).toEqual([]);
    expect(collectReferences(workloadObject({ kind: "StatefulSet", pod }))).toHaveLength(1);
  });

  it("reads the extra annotations: comma-separated names, also of other namespaces, with spaces and empty entries", () => {
    const annotations = {
      "wave.pusher.com/extra-configmaps": " a , ,other/b.c,",
      "wave.pusher.com/extra-secrets": "d",
    };
    const origin = (annotation: string) => ({ path: `metadata.annotations[${annotation}]`, annotation });
    const [configMaps, secrets] = [origin("wave.pusher.com/extra-configmaps"), origin("wave.pusher.com/extra-secrets")];
    const common = { reads: "files", keys: "all", optional: false };
    expect(collectReferences(workloadObject({ annotations }))).toEqual([
      { kind: "ConfigMap", namespace: "default", name: "a", ...configMaps, ...common },
      { kind: "ConfigMap", namespace: "other", name: "b.c", ...configMaps, ...common },
      { kind: "Secret", namespace: "default", name: "d", ...secrets, ...common },
    ]);
  });

  it.each([
    "Upper",
    "a/b/c",
    "/a",
    "a/",
    "under_score",
    "a b",
    "-a",
    "a..b",
    "a\nb",
    "x".repeat(254),
    `${"n".repeat(64)}/a`,
  ])("reports %j in an extra annotation as a mistake, and reads the other entries", (entry) => {
    const { references, mistakes } = workload({ annotations: { "wave.pusher.com/extra-secrets": `db,${entry}` } });
    expect(references.map(({ name }) => name)).toEqual(["db"]);
    expect(mistakes).toEqual([
      {
        reason: "InvalidAnnotation",
        message: expect.stringContaining(JSON.stringify(entry.slice(0, 79)).slice(0, -1)),
      },
    ]);
    expect(mistakes[0]?.message).not.toContain("\n");
  });
});

describe("merged references", () => {
  function merged(pod: Partial<PodSpec>): string[] {
    return workload({ pod }).references.map(
      ({ name, reads, keys, optional }) => `${name} ${reads} ${keys}${optional ? " optional" : ""}`,
    );
  }
  const env = (name: string, key: string, optional = false) => ({
    name: key,
    valueFrom: { secretKeyRef: { name, key, optional } },
  });

  it("have the sorted keys of one object, in any order of the spec", () => {
    const variables = [env("db", "b"), env("db", "a"), env("db", "b"), env("api", "k")];
    const forwards = merged({ containers: [{ name: "web", env: variables }] });
    expect(forwards).toEqual(["api env k", "db env a,b"]);
    expect(merged({ containers: [{ name: "web", env: variables.toReversed() }] })).toEqual(forwards);
  });

  it("separate required from optional, and named keys from all keys", () => {
    const variables = [env("db", "a"), env("db", "b", true)];
    const envFrom = [{ secretRef: { name: "db" } }];
    expect(merged({ containers: [{ name: "web", env: variables, envFrom }] }).sort()).toEqual([
      "db env a",
      "db env all",
      "db env b optional",
    ]);
  });
});
