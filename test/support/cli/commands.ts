import { expect } from "vitest";
import type { Explanation } from "../../../src/cli/cluster/explanation/explanation.ts";
import { configHash, updateOnConfigChange } from "../../../src/domain/references/annotations.ts";
import type { KubeObject } from "../../../src/kube/api/resources.ts";
import { eventually } from "../eventually.ts";
import { type Ended, kubeconfigFile, runWave } from "./terminal.ts";

/** A workload for a test. By default it has two Pods that read the whole ConfigMap `page`. */
export interface WantedWorkload {
  /** Annotations in addition to the opt-in; undefined removes an annotation. */
  readonly annotations?: Readonly<Record<string, string | undefined>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: object;
  readonly envFrom?: readonly object[];
}

/** A cluster and the commands of Wave. */
export interface CommandScene {
  readonly env: Readonly<Record<string, string>>;
  readonly run: (...args: readonly string[]) => Promise<Ended>;
  readonly explained: (name: string, ...args: readonly string[]) => Promise<Explanation>;
  readonly createNamespace: (name: string, annotations?: Readonly<Record<string, string>>) => Promise<void>;
  readonly createConfigMap: (name: string, value: string) => Promise<void>;
  readonly editConfigMap: (name: string, value: string) => Promise<void>;
  /** Creates a Deployment, a StatefulSet or a DaemonSet that is due: `deployments/web`. Its Pods are not newer than what they read. */
  readonly createWorkload: (path: string, wanted?: WantedWorkload) => Promise<void>;
  /** Applies a merge patch to an object of the namespace: `deployments/web`. */
  readonly merge: (path: string, patch: object, fieldManager?: string) => Promise<void>;
  readonly read: (path: string) => Promise<KubeObject>;
  /** Writes the current hash of a workload as Wave does: `deployments/web`. */
  readonly roll: (path: string) => Promise<void>;
  /** Resolves when `wave explain` reports this state. */
  readonly toBe: (path: string, state: Explanation["state"]) => Promise<void>;
}

/** The part of a sandbox that the scene uses. */
interface ApiServer {
  readonly url: string;
  readonly kubeconfig: () => object;
  readonly hasControllers?: boolean;
}

interface WorkloadOfScene {
  readonly spec: { readonly replicas?: number; readonly paused?: boolean };
  readonly status?: { readonly replicas?: number; readonly currentNumberScheduled?: number };
}

/** Returns the scene in one namespace of a sandbox. */
export function commandScene(sandbox: ApiServer, namespace: string): CommandScene {
  // The tests write just before they run a command, so no settle time applies.
  const env = { KUBECONFIG: kubeconfigFile(sandbox.kubeconfig()), WAVE_SETTLE: "0" };
  const call = async (method: string, path: string, body?: object) => {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const response = await fetch(`${sandbox.url}${path}`, {
      method,
      headers: { "content-type": type },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
    return response;
  };
  const collection = (path: string) => {
    const apps = ["deployments", "statefulsets", "daemonsets"].some((each) => path.startsWith(each));
    return `${apps ? "/apis/apps/v1" : "/api/v1"}/namespaces/${namespace}/${path}`;
  };
  const named = (path: string) => ({
    plural: path.slice(0, path.indexOf("/")),
    name: path.slice(path.indexOf("/") + 1),
  });
  const run = (...args: readonly string[]) => runWave([...args, "-n", namespace], env);
  const explained: CommandScene["explained"] = async (path, ...args) => {
    const { code, out, err } = await run("explain", path, "-o", "json", ...args);
    const explanation: Explanation = JSON.parse(out);
    expect({ code, err }).toEqual({ code: explanation.state === "unknown" ? 3 : 0, err: "" });
    return explanation;
  };
  const merge: CommandScene["merge"] = async (path, patch, fieldManager = "kubectl-edit") => {
    await call("PATCH", `${collection(path)}?fieldManager=${fieldManager}`, patch);
  };
  const values = new Map<string, string>();
  /** Edits a ConfigMap and takes the edit back, so that it changed after everything that exists. */
  const touch = async (name: string) => {
    const value = values.get(name);
    if (value === undefined) return;
    for (const key of [`${value}, edited`, value])
      await call("PATCH", collection(`configmaps/${name}`), { data: { key } });
  };
  const read: CommandScene["read"] = async (path) =>
    (await call("GET", collection(path))).json() as Promise<KubeObject>;
  /** Waits until a new workload has a Pod, which is then not newer than an edit. A workload without replicas has none, nor has one that is paused. */
  const podToExist = (path: string) =>
    eventually(async () => {
      const { spec, status } = (await read(path)) as KubeObject & WorkloadOfScene;
      const pods = status?.replicas ?? status?.currentNumberScheduled ?? 0;
      expect(pods > 0 || spec.replicas === 0 || spec.paused === true).toBe(true);
    });
  return {
    env,
    run,
    explained,
    merge,
    createNamespace: async (name, annotations = {}) => {
      await call("POST", "/api/v1/namespaces", { metadata: { name, annotations } });
    },
    createConfigMap: async (name, value) => {
      await call("POST", collection("configmaps"), { metadata: { name }, data: { key: value } });
      values.set(name, value);
    },
    editConfigMap: async (name, value) => {
      await merge(`configmaps/${name}`, { data: { key: value } });
      values.set(name, value);
    },
    createWorkload: async (
      path,
      { annotations, labels, spec, envFrom = [{ configMapRef: { name: "page" } }] } = {},
    ) => {
      const { plural, name } = named(path);
      await call("POST", collection(plural), {
        metadata: { name, labels, annotations: { [updateOnConfigChange]: "true", ...annotations } },
        spec: {
          ...(plural === "daemonsets" ? {} : { replicas: 2 }),
          selector: { matchLabels: { app: name } },
          template: {
            metadata: { labels: { app: name } },
            spec: { containers: [{ name: "web", image: "nginx", envFrom }] },
          },
          ...spec,
        },
      });
      if (sandbox.hasControllers) await podToExist(path);
      for (const { configMapRef } of envFrom as readonly { configMapRef?: { readonly name: string } }[])
        if (configMapRef !== undefined) await touch(configMapRef.name);
    },
    read,
    roll: async (path) => {
      const { currentHash } = await explained(path);
      await merge(path, { spec: { template: { metadata: { annotations: { [configHash]: currentHash } } } } }, "wave");
    },
    toBe: async (path, state) => {
      await eventually(async () => expect((await explained(path)).state).toBe(state));
    },
  };
}
