import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { startSandbox } from "../../../../sandbox/sandbox.ts";
import { type Clock, systemClock } from "../../../../sandbox/time/clock.ts";
import { clientOf } from "../../../../test/support/kube/client.ts";
import { sapConfigHash } from "../../../domain/compatibility/directive.ts";
import { configHash, workloadRefHash } from "../../../domain/references/annotations.ts";
import type { KubeObject } from "../../../kube/api/resources.ts";
import { countPods, readPods } from "./pods.ts";

/** The API server is ten minutes behind this machine. */
const clock: Clock = { ...systemClock, wall: () => Date.now() - 600_000 };
const sandbox = await startSandbox({ controllers: false, clock });
afterAll(() => sandbox.close());
const pods = "/api/v1/namespaces/default/pods";

async function call(method: string, path: string, body?: object): Promise<KubeObject> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const response = await fetch(`${sandbox.url}${path}`, {
    method,
    headers: { "content-type": type },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(await response.text());
  return response.json() as Promise<KubeObject>;
}

// The garbage collector deletes objects whose owner uid does not exist.
const { uid } = (await call("POST", "/api/v1/namespaces/default/configmaps", { metadata: { name: "owner" } })).metadata;

type Owner = { readonly kind: string; readonly name: string };
type PodMetadata = { readonly annotations?: object; readonly labels?: object; readonly finalizers?: readonly string[] };

async function createPod(
  name: string,
  owner: Owner,
  hash: string,
  { annotations = {}, ...metadata }: PodMetadata = {},
) {
  const ownerReferences = [{ apiVersion: "apps/v1", uid, controller: true, ...owner }];
  await call("POST", pods, {
    metadata: { name, ownerReferences, ...metadata, annotations: { [configHash]: hash, ...annotations } },
    spec: { containers: [{ name: "web", image: "nginx" }] },
  });
}

async function read() {
  const { client } = clientOf(sandbox.url);
  onTestFinished(() => client.close());
  const found = await readPods(client, { namespace: "default" });
  if (found.state === "unread") throw new Error(found.why);
  return found;
}

describe("the Pods of a workload", () => {
  it("are the Pods that it owns, also through ReplicaSets, without ended or deleted Pods", async () => {
    const byHash = { labels: { "pod-template-hash": "abc12" } };
    const deployment = { kind: "ReplicaSet", name: "web-front-abc12" };
    await createPod("a", deployment, "new", byHash);
    await createPod("b", deployment, "old", byHash);
    await createPod("ended", deployment, "old", byHash);
    await call("PATCH", `${pods}/ended/status`, { status: { phase: "Failed" } });
    await createPod("leaving", deployment, "old", { ...byHash, finalizers: ["example.com/stays"] });
    await call("DELETE", `${pods}/leaving`);
    await createPod("alone", { kind: "ReplicaSet", name: "web-front" }, "old");
    await createPod("db-0", { kind: "StatefulSet", name: "db" }, "new");
    await createPod("job", { kind: "Job", name: "db" }, "new");
    const { of, terminating } = await read();
    const count = (kind: "Deployment" | "StatefulSet", name: string) => {
      const workload = { kind, namespace: "default", name, hashAnnotation: configHash, templateSource: undefined };
      return countPods(of(workload), terminating(workload), ({ hash }) => hash === "new");
    };
    expect(count("Deployment", "web-front")).toMatchObject({ total: 2, current: 1, terminatingOld: 1 });
    expect(count("Deployment", "web")).toMatchObject({ total: 0, current: 0, terminatingOld: 0 });
    expect(count("StatefulSet", "db")).toMatchObject({ total: 1, current: 1, terminatingOld: 0 });
  });

  it("have the hash in the annotation that their workload uses", async () => {
    const annotations = { [sapConfigHash]: "of SAP", [workloadRefHash]: "of a Rollout" };
    await createPod("both-0", { kind: "StatefulSet", name: "both" }, "own", { annotations });
    const { of } = await read();
    const hashes = (hashAnnotation: string) =>
      of({ kind: "StatefulSet", namespace: "default", name: "both", hashAnnotation, templateSource: undefined }).map(
        ({ hash, observed }) => [hash, observed.hash],
      );
    expect(hashes(sapConfigHash)).toEqual([["of SAP", "of SAP"]]);
    expect(hashes(configHash)).toEqual([["own", "own"]]);
  });

  it("do not wait for a volume because the clock of this machine is fast", async () => {
    await createPod("disk-0", { kind: "StatefulSet", name: "disk" }, "new");
    const { metadata } = await call("GET", `${pods}/disk-0`);
    await call("PATCH", `${pods}/disk-0/status`, {
      status: { conditions: [{ type: "PodScheduled", status: "True" }] },
    });
    await call("POST", "/api/v1/namespaces/default/events", {
      metadata: { name: "disk" },
      involvedObject: { kind: "Pod", namespace: "default", name: "disk-0", uid: metadata.uid },
      ...{ reason: "FailedAttachVolume", message: "in use", lastTimestamp: metadata.creationTimestamp },
    });
    const found = await read();
    const disk = { kind: "StatefulSet", namespace: "default", name: "disk", hashAnnotation: configHash } as const;
    expect(found.of({ ...disk, templateSource: undefined }).map(({ observed }) => observed.start.state)).toEqual([
      "starting",
    ]);
  });
});
