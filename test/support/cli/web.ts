import { configHash, updateOnConfigChange } from "../../../src/domain/references/annotations.ts";

/** Writes to an API server over plain HTTP: a Deployment `web` in namespace `default` and the objects that it reads. */
export interface WebCluster {
  /** Sends one request. A DELETE of a missing object succeeds; every other failure throws. */
  readonly call: (method: "POST" | "PATCH" | "DELETE", path: string, body?: object) => Promise<void>;
  readonly createConfigMap: (name: string, data: object) => Promise<void>;
  readonly createSecret: (stringData: object) => Promise<void>;
  /** Creates a Deployment whose Pods read a file of the ConfigMap `page`, and a key of the Secret `db` as a variable. */
  readonly createWeb: (annotations?: object, spec?: object, pod?: object) => Promise<void>;
  /** Records a hash as Wave does, and completes the rollout: the Deployment is scaled to zero. */
  readonly recordHash: (hash: string) => Promise<void>;
  /** Deletes everything that the other functions create. */
  readonly clean: () => Promise<void>;
}

/** Returns the path of an object in namespace `default`. */
export const inDefault = (path: string) => `/api/v1/namespaces/default/${path}`;
const deployments = "/apis/apps/v1/namespaces/default/deployments";

/** Returns functions that write to the API server at this URL. */
export function webCluster(url: string): WebCluster {
  const call: WebCluster["call"] = async (method, path, body) => {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const response = await fetch(url + path, {
      method,
      headers: { "content-type": type },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const gone = method === "DELETE" && response.status === 404;
    if (!response.ok && !gone) throw new Error(`${method} ${path}: ${await response.text()}`);
  };
  return {
    call,
    createConfigMap: (name, data) => call("POST", inDefault("configmaps"), { metadata: { name }, data }),
    createSecret: (stringData) => call("POST", inDefault("secrets"), { metadata: { name: "db" }, stringData }),
    createWeb: (annotations = { [updateOnConfigChange]: "true" }, spec = {}, pod = {}) =>
      call("POST", deployments, { metadata: { name: "web", annotations }, spec: { ...spec, ...podTemplate(pod) } }),
    recordHash: async (hash) => {
      const template = { metadata: { annotations: { [configHash]: hash } } };
      await call("PATCH", `${deployments}/web`, { spec: { replicas: 0, template } });
      await call("PATCH", `${deployments}/web/status`, { status: { observedGeneration: 1_000 } });
    },
    clean: async () => {
      for (const path of ["configmaps/page", "secrets/db"]) await call("DELETE", inDefault(path));
      await call("DELETE", `${deployments}/web`);
    },
  };
}

function podTemplate(pod: object): object {
  const container = {
    name: "nginx",
    image: "nginx",
    env: [{ name: "PASSWORD", valueFrom: { secretKeyRef: { name: "db", key: "password" } } }],
    volumeMounts: [{ name: "page", mountPath: "/html/index.html", subPath: "index.html" }],
  };
  return {
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: { containers: [container], volumes: [{ name: "page", configMap: { name: "page" } }], ...pod },
    },
  };
}
