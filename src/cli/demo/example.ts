import type { Deployment } from "kubernetes-types/apps/v1.d.ts";
import type { ConfigMap, Secret } from "kubernetes-types/core/v1.d.ts";
import { updateOnConfigChange } from "../../domain/references/annotations.ts";

/** The ConfigMap of examples/nginx.yaml; the bundle has no files beside it, so the example stands here as well. */
export const page: ConfigMap = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "web-page" },
  data: { "index.html": "<h1>Hello</h1>\n", "notes.txt": "No Pod reads this key.\n" },
};

/** The Deployment of examples/nginx.yaml: reads one key of {@link page} by subPath, and {@link token} if there is one. */
export const web: Deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", annotations: { [updateOnConfigChange]: "true" } },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: {
        containers: [
          {
            name: "nginx",
            image: "nginx:1.29-alpine",
            env: [{ name: "TOKEN", valueFrom: { secretKeyRef: { name: "web-token", key: "token", optional: true } } }],
            volumeMounts: [{ name: "page", mountPath: "/usr/share/nginx/html/index.html", subPath: "index.html" }],
          },
        ],
        volumes: [{ name: "page", configMap: { name: "web-page" } }],
      },
    },
  },
};

/** The optional Secret that {@link web} reads, which the story creates late. Its value is nobody's. */
export function token(random: () => string): Secret {
  return { apiVersion: "v1", kind: "Secret", metadata: { name: "web-token" }, stringData: { token: random() } };
}

/** What {@link witness} reads. */
export const witnessPage: ConfigMap = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "witness" },
  data: { "witness.txt": "Made after the edit before it.\n" },
};

/** A Deployment without Pods. It gets its hash only when Wave has seen {@link witnessPage}, and all edits before that. */
export const witness: Deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "witness", annotations: { [updateOnConfigChange]: "true" } },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: "witness" } },
    template: {
      metadata: { labels: { app: "witness" } },
      spec: {
        containers: [{ name: "nginx", image: "nginx:1.29-alpine", envFrom: [{ configMapRef: { name: "witness" } }] }],
      },
    },
  },
};
