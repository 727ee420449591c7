import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, inject } from "vitest";
import { parse } from "yaml";
import { type Sandbox, startSandbox } from "../../sandbox/sandbox.ts";
import { type Access, type Api, connect } from "./api.ts";

/** One API server under test. */
export interface Target {
  readonly api: Api;
  /** The path of the namespace of this test file, for example `/api/v1/namespaces/conformance-x`. */
  readonly namespace: string;
  readonly namespaceName: string;
  readonly access: Access;
  /** A path and a resourceVersion whose history is lost. */
  expired(): Promise<{ readonly path: string; readonly resourceVersion: string }>;
}

interface Kubeconfig {
  readonly clusters: [{ cluster: { server: string; "certificate-authority-data": string } }];
  readonly users: [{ user: { token: string } }];
}

/**
 * Runs the same tests on the sandbox and, if this machine has one, on a real API server. The tests fail if the sandbox
 * behaves differently.
 */
export function describeApiServers(about: string, statements: (target: () => Target) => void): void {
  describe(`${about}, sandbox`, () => {
    let sandbox: Sandbox;
    let target: Target;
    beforeAll(async () => {
      sandbox = await startSandbox({ podDelayMs: 20 });
      const expired = async () => {
        sandbox.expireHistory();
        return { path: `${target.namespace}/configmaps`, resourceVersion: "1" };
      };
      target = await newTarget({ server: new URL(sandbox.url) }, expired);
    });
    afterAll(async () => {
      target.api.close();
      await sandbox.close();
    });
    statements(() => target);
  });

  const controlPlane = inject("controlPlane");
  if (controlPlane === undefined) return;
  describe(`${about}, kube-apiserver`, () => {
    let target: Target;
    beforeAll(async () => {
      target = await newTarget(accessOf(controlPlane.kubeconfig), () => newCustomResource(target.api));
    });
    afterAll(async () => {
      await target.api.call("DELETE", target.namespace);
      target.api.close();
    });
    statements(() => target);
  });
}

/**
 * Compares the sandbox, without its controllers, and a real API server, in this order. If there is no real one, another
 * namespace of the sandbox replaces it: the responses must at least not depend on the namespace.
 */
export function bothApiServers(about: string, statements: (targets: () => readonly Target[]) => void): void {
  const controlPlane = inject("controlPlane");
  const other = controlPlane === undefined ? "another namespace" : "kube-apiserver";
  describe(`${about}, sandbox and ${other}`, () => {
    let sandbox: Sandbox;
    let targets: readonly Target[];
    const expired = () => Promise.reject(new Error("not compared"));
    beforeAll(async () => {
      sandbox = await startSandbox({ controllers: false });
      const access = { server: new URL(sandbox.url) };
      const otherAccess = controlPlane === undefined ? access : accessOf(controlPlane.kubeconfig);
      targets = [await newTarget(access, expired), await newTarget(otherAccess, expired)];
    });
    afterAll(async () => {
      for (const { api, namespace } of targets) {
        await api.call("DELETE", namespace);
        api.close();
      }
      await sandbox.close();
    });
    statements(() => targets);
  });
}

/** Returns the address and the credentials in the administrator's kubeconfig of `test/control-plane`. */
function accessOf(kubeconfig: string): Access {
  const { clusters, users } = parse(readFileSync(kubeconfig, "utf8")) as Kubeconfig;
  const { server, "certificate-authority-data": ca } = clusters[0].cluster;
  return { server: new URL(server), ca: Buffer.from(ca, "base64").toString(), token: users[0].user.token };
}

async function newTarget(access: Access, expired: Target["expired"]): Promise<Target> {
  const api = connect(access);
  const body = { metadata: { generateName: "conformance-" } };
  const { body: namespace } = await api.call("POST", "/api/v1/namespaces", { body });
  const { name } = namespace.metadata;
  return { api, access, namespaceName: name, namespace: `/api/v1/namespaces/${name}`, expired };
}

/** Creates a kind that is younger than the first revisions, so that these are too old for it. A real compaction takes minutes. */
async function newCustomResource(api: Api): Promise<{ path: string; resourceVersion: string }> {
  const plural = `expireds${Math.random().toString(36).slice(2).replaceAll(/\d/g, "x")}`;
  const group = "conformance.example.com";
  await api.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    body: {
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        names: { kind: plural.charAt(0).toUpperCase() + plural.slice(1), plural },
        scope: "Namespaced",
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
          },
        ],
      },
    },
  });
  const path = `/apis/${group}/v1/${plural}`;
  const initialEvents = {
    sendInitialEvents: "true",
    resourceVersionMatch: "NotOlderThan",
    allowWatchBookmarks: "true",
  };
  // The storage of the kind is ready some time after its definition. The first watch that works shows that it is ready.
  await eventually(async () => {
    const { status } = await api.call("GET", path, { query: { watch: "1", timeoutSeconds: "1", ...initialEvents } });
    return status === 200;
  });
  return { path, resourceVersion: "1" };
}

/** Repeats a check until it succeeds. Throws an Error after a minute. */
export async function eventually(question: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!(await question())) {
    if (performance.now() > deadline) throw new Error("it did not come true within a minute");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
