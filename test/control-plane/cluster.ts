import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { parse } from "yaml";
import { controlPlaneFolder } from "./control-plane.ts";

/** An object from the API server, with only the fields that tests read. */
export interface AnyObject {
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly generation?: number;
    readonly resourceVersion: string;
    readonly annotations?: Record<string, string>;
    readonly ownerReferences?: readonly { readonly uid: string }[];
    readonly deletionTimestamp?: string;
  };
  readonly [field: string]: unknown;
}

/**
 * The cluster with the permissions of an administrator. The client is separate, so that tests do not check Wave with
 * Wave's own client.
 */
export interface Cluster {
  readonly kubeconfig: string;
  /** Path of the API server's audit log. */
  readonly auditLog: string;
  /** Sends one request. Throws an Error with the status and the message of the response if it is not 2xx. */
  readonly api: <T = AnyObject>(method: string, path: string, body?: unknown, contentType?: string) => Promise<T>;
  readonly list: (path: string) => Promise<readonly AnyObject[]>;
  /** Runs kubectl. Resolves to its output; rejects with its error output. */
  readonly kubectl: (args: readonly string[], stdin?: string) => Promise<string>;
  readonly close: () => void;
}

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: { server: string; "certificate-authority-data": string } }];
  readonly users: readonly [{ readonly user: { readonly token: string } }];
}

/** Connects to a control plane that `test/control-plane/up` runs. */
export function connect({ kubeconfig, auditLog }: { kubeconfig: string; auditLog: string }): Cluster {
  const config = parse(readFileSync(kubeconfig, "utf8")) as Kubeconfig;
  const { server, "certificate-authority-data": authority } = config.clusters[0].cluster;
  const agent = new Agent({ keepAlive: true, ca: Buffer.from(authority, "base64"), maxSockets: 32 });
  const headers = { authorization: `Bearer ${config.users[0].user.token}`, accept: "application/json" };

  const api: Cluster["api"] = (method, path, body, contentType = "application/json") =>
    new Promise((resolve, reject) => {
      const sent = request(
        new URL(path, server),
        { method, agent, headers: { ...headers, "content-type": contentType } },
        (response) => {
          let text = "";
          response.setEncoding("utf8");
          response.on("data", (chunk: string) => {
            text += chunk;
          });
          response.on("end", () => {
            const status = response.statusCode ?? 0;
            if (status >= 200 && status < 300) resolve(JSON.parse(text));
            else reject(new Error(`${method} ${path}: ${status} ${text}`));
          });
        },
      );
      sent.on("error", reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });

  return {
    kubeconfig,
    auditLog,
    api,
    list: async (path) => (await api<{ items: readonly AnyObject[] }>("GET", path)).items,
    kubectl: (args, stdin = "") =>
      new Promise((resolve, reject) => {
        const child = execFile(
          join(controlPlaneFolder(), "kubectl"),
          ["--kubeconfig", kubeconfig, ...args],
          { maxBuffer: 64 * 1024 * 1024 },
          (error, stdout, stderr) => (error ? reject(new Error(stderr || error.message)) : resolve(stdout + stderr)),
        );
        // A process that ends before it has read its input reports the reason in its own error, if it has one.
        child.stdin?.on("error", () => {}).end(stdin);
      }),
    close: () => agent.destroy(),
  };
}
