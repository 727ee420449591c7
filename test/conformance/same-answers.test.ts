import { expect, it } from "vitest";
import type { Reply } from "./api.ts";
import { bothApiServers } from "./targets.ts";

const podSpec = {
  containers: [
    {
      name: "main",
      image: "registry.example.com:5000/main",
      env: [
        { name: "PLAIN", value: "x" },
        { name: "KEY", valueFrom: { configMapKeyRef: { name: "config", key: "a" } } },
        { name: "SECRET", valueFrom: { secretKeyRef: { name: "secret", key: "a", optional: true } } },
        { name: "POD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      ],
      envFrom: [{ configMapRef: { name: "config" } }, { prefix: "S_", secretRef: { name: "secret" } }],
      ports: [{ containerPort: 80 }],
      readinessProbe: { httpGet: { path: "/ready", port: 80 } },
      resources: { limits: { memory: "64Mi" } },
      volumeMounts: [{ name: "config", mountPath: "/config", readOnly: true }],
    },
    { name: "side", image: "side:1.2", args: [] },
  ],
  initContainers: [{ name: "init", image: "init:latest", restartPolicy: "Always" }],
  volumes: [
    { name: "config", configMap: { name: "config", items: [{ key: "a", path: "a" }] } },
    { name: "secret", secret: { secretName: "secret", optional: true } },
    { name: "all", projected: { sources: [{ configMap: { name: "config" } }, { secret: { name: "secret" } }] } },
    { name: "scratch", emptyDir: {} },
  ],
  serviceAccountName: "robot",
};
const template = { metadata: { labels: { app: "a" }, annotations: {} }, spec: podSpec };
const fromKey = { configMapKeyRef: { name: "config", key: "a" } };
const selector = { matchLabels: { app: "a" } };
const bare = { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "c@sha256:0" }] } };

/** Requests in order. Both servers give the same response to each, except for identifiers and times. */
const conversation: readonly (readonly [method: string, path: string, body?: object, contentType?: string])[] = [
  [
    "POST",
    "/api/v1/configmaps",
    { metadata: { name: "config", labels: { a: "b" } }, data: { a: "b" }, binaryData: { c: "ZA==" } },
  ],
  [
    "POST",
    "/api/v1/secrets",
    { metadata: { name: "secret", annotations: { "example.com/a": "" } }, stringData: { a: "b" } },
  ],
  [
    "PATCH",
    "/api/v1/configmaps/config",
    { data: { a: null, d: "e" }, metadata: { labels: null } },
    "application/merge-patch+json",
  ],
  ["PATCH", "/api/v1/configmaps/config", { data: { c: "in both" } }, "application/merge-patch+json"],
  [
    "PATCH",
    "/api/v1/configmaps/config",
    [{ op: "move", from: "/data/d", path: "/data/f" }],
    "application/json-patch+json",
  ],
  ["POST", "/apis/apps/v1/deployments", { metadata: { name: "full" }, spec: { replicas: 0, selector, template } }],
  [
    "PATCH",
    "/apis/apps/v1/deployments/full",
    [{ op: "add", path: "/spec/template/metadata/annotations", value: { hash: "1" } }],
    "application/json-patch+json",
  ],
  [
    "PATCH",
    "/apis/apps/v1/deployments/full",
    [
      { op: "add", path: "/spec/template/spec/initContainers/-", value: { name: "side", image: "side:1.2" } },
      { op: "add", path: "/spec/template/spec/containers/0/env/0/valueFrom", value: fromKey },
      {
        op: "add",
        path: "/spec/template/spec/containers/0/env/1/valueFrom/secretKeyRef",
        value: fromKey.configMapKeyRef,
      },
      { op: "add", path: "/spec/template/spec/volumes/0/secret", value: { secretName: "secret" } },
      { op: "add", path: "/spec/template/spec/volumes/1/projected", value: { sources: [] } },
    ],
    "application/json-patch+json",
  ],
  [
    "POST",
    "/apis/apps/v1/deployments",
    { metadata: { name: "recreate" }, spec: { replicas: 0, selector, template: bare, strategy: { type: "Recreate" } } },
  ],
  [
    "POST",
    "/apis/apps/v1/statefulsets",
    { metadata: { name: "full" }, spec: { replicas: 0, serviceName: "a", selector, template } },
  ],
  [
    "POST",
    "/apis/apps/v1/statefulsets",
    {
      metadata: { name: "manual" },
      spec: { replicas: 0, serviceName: "a", selector, template: bare, updateStrategy: { type: "OnDelete" } },
    },
  ],
  ["POST", "/apis/apps/v1/daemonsets", { metadata: { name: "full" }, spec: { selector, template } }],
  [
    "POST",
    "/apis/apps/v1/daemonsets",
    { metadata: { name: "manual" }, spec: { selector, template: bare, updateStrategy: { type: "OnDelete" } } },
  ],
  [
    "POST",
    "/apis/apps/v1/replicasets",
    { metadata: { name: "alone" }, spec: { replicas: 0, selector, template: bare } },
  ],
  [
    "POST",
    "/apis/coordination.k8s.io/v1/leases",
    { metadata: { name: "lease" }, spec: { holderIdentity: "a", leaseDurationSeconds: 15 } },
  ],
  [
    "PATCH",
    "/apis/coordination.k8s.io/v1/leases/lease",
    { spec: { holderIdentity: "" } },
    "application/merge-patch+json",
  ],
  ["POST", "/apis/apps/v1/deployments", { metadata: { name: "x" } }],
  ["POST", "/apis/apps/v1/deployments", { metadata: { name: "x" }, spec: { replicas: -1, selector, template: bare } }],
  [
    "POST",
    "/apis/apps/v1/deployments",
    { metadata: { name: "x" }, spec: { selector: { matchLabels: {} }, template: bare } },
  ],
  [
    "PATCH",
    "/apis/apps/v1/deployments/full",
    { spec: { selector: { matchLabels: { app: "other" } }, template: { metadata: { labels: { app: "other" } } } } },
    "application/merge-patch+json",
  ],
  ["PATCH", "/apis/apps/v1/statefulsets/full", { spec: { serviceName: "other" } }, "application/merge-patch+json"],
  ["POST", "/api/v1/configmaps", { metadata: { name: "x", resourceVersion: "1" } }],
  ["POST", "/api/v1/configmaps", { metadata: { name: "x", namespace: "other" } }],
  ["POST", "/api/v1/configmaps", { metadata: { name: "x" }, data: { "a b": "c" } }],
  ["POST", "/api/v1/configmaps", { metadata: { name: "x", labels: { "a b": "c" } } }],
  ["PATCH", "/api/v1/secrets/secret", { type: "other" }, "application/merge-patch+json"],
  ["PATCH", "/api/v1/secrets/nothing", { type: "other" }, "application/merge-patch+json"],
  ["PUT", "/api/v1/configmaps/config", { metadata: { name: "other" } }],
  ["PUT", "/api/v1/configmaps/nothing", { metadata: { name: "nothing" } }],
  ["DELETE", "/api/v1/configmaps/config"],
  ["DELETE", "/api/v1/configmaps/config"],
  ["GET", "/api/v1/configmaps/config"],
  ["POST", "/api/v1/configmaps/config", {}],
  ["GET", "/apis/apps/v1/deployments/full/scale"],
  ["GET", "/apis/apps/v1/deployments/full/nothing"],
];

const revision = "deployment.kubernetes.io/revision";

/** Removes identifiers, versions, times, the name of the namespace, and all that the controllers of the real cluster wrote. */
function comparable({ status, body }: Reply, namespace: string): unknown {
  const scrubbed = JSON.parse(JSON.stringify(body).replaceAll(namespace, "NAMESPACE"), (field, value: unknown) => {
    if (["uid", "resourceVersion", "creationTimestamp", "time"].includes(field)) return typeof value;
    if (field === "status" && typeof value === "object") return undefined;
    if (field === "annotations" && JSON.stringify(value).includes(revision)) return withoutRevision(value as object);
    if (field !== "managedFields") return value;
    return (value as { manager: string }[]).filter(({ manager }) => manager !== "kube-controller-manager");
  }) as unknown;
  return { status, body: scrubbed };
}

function withoutRevision(annotations: object): object | undefined {
  const others = Object.entries(annotations).filter(([name]) => name !== revision);
  return others.length === 0 ? undefined : Object.fromEntries(others);
}

bothApiServers("conversations", (targets) => {
  it.each(conversation.map((request, index) => [index, ...request] as const))(
    "%i: %s %s",
    async (_, method, path, body, contentType) => {
      const answers: unknown[] = [];
      for (const { api, namespaceName } of targets()) {
        const inNamespace = path.replace("/v1/", `/v1/namespaces/${namespaceName}/`);
        const call = { ...(body === undefined ? {} : { body }), ...(contentType === undefined ? {} : { contentType }) };
        answers.push(comparable(await api.call(method, inNamespace, call), namespaceName));
      }
      expect(answers[0]).toEqual(answers[1]);
    },
  );
});
