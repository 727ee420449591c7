import type { ConfigMap, Deployment, Secret } from "#kubernetes";
import { updateOnConfigChange } from "../../domain/references/annotations.ts";

/** The ConfigMap of examples/nginx.yaml. It is repeated here because the bundle contains no other files. */
export const page: ConfigMap = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "web-page" },
  data: { "index.html": "<h1>Hello</h1>\n", "notes.txt": "No Pod reads this key.\n" },
};

/** The Deployment of examples/nginx.yaml: reads one key of {@link page} by subPath, and {@link token} if it exists. */
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

/** Returns the optional Secret that {@link web} reads, which the last step creates. Its value is random. */
export function token(random: () => string): Secret {
  return { apiVersion: "v1", kind: "Secret", metadata: { name: "web-token" }, stringData: { token: random() } };
}

/** The ConfigMap that {@link witness} reads. */
export const witnessPage: ConfigMap = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "witness" },
  data: { "witness.txt": "Created after the edit.\n" },
};

/** A Deployment without Pods. It gets its hash only when Wave has received {@link witnessPage}, and all earlier edits. */
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
