import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { AnyObject } from "../control-plane/cluster.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, type WaveProcess, wave as waveCommand } from "../control-plane/wave-process.ts";
import { container, makeNamespace, type Namespace, workload, workloadKinds, workloadPath } from "./objects.ts";
import { getWorkload, newHash, revisionsToBe, settledRevisions, waveEvents } from "./state.ts";

const ns = "cause";
const causeName = "wave.pusher.com/cause";

describeOnControlPlane("the cause of a rollout", (cluster) => {
  let namespace: Namespace;
  let wave: WaveProcess;

  const history = async (kind: string, name: string) => {
    const args = ["history", `${kind}/${name}`, "-n", ns, "-o", "json", "--kubeconfig", cluster.kubeconfig];
    const { stdout } = await promisify(execFile)(waveCommand, args);
    return JSON.parse(stdout).revisions as readonly Record<string, unknown>[];
  };

  beforeAll(async () => {
    namespace = await makeNamespace(cluster, ns);
    wave = await startWave(["--kubeconfig", cluster.kubeconfig, `--namespaces=${ns}`, "--settle=0"]);
  });
  afterAll(async () => {
    await wave?.stop();
  });

  describe.for(workloadKinds)("of a $kind", ({ kind }) => {
    const name = `web-${kind.toLowerCase()}`;
    const ownedRevisions = async (): Promise<readonly AnyObject[]> => {
      const { metadata } = await getWorkload(cluster, ns, kind, name);
      const plural = kind === "Deployment" ? "replicasets" : "controllerrevisions";
      const all = await cluster.list(`/apis/apps/v1/namespaces/${ns}/${plural}`);
      return all.filter((object) => object.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid));
    };
    const edit = async (a: string, before: string | undefined) => {
      const path = `/api/v1/namespaces/${ns}/configmaps/${name}?fieldManager=argocd-controller`;
      await cluster.api("PATCH", path, { data: { a } }, "application/merge-patch+json");
      return newHash(cluster, ns, kind, name, before);
    };

    it("is kept by Kubernetes with each revision, and an earlier content uses its earlier revision again", async () => {
      const collection = `/api/v1/namespaces/${ns}/configmaps?fieldManager=argocd-controller`;
      await cluster.api("POST", collection, { metadata: { name }, data: { a: "1" } });
      const pods = { containers: [{ ...container, envFrom: [{ configMapRef: { name } }] }] };
      // Each edit is rolled at once.
      const annotations = { "wave.pusher.com/roll-requested": new Date(Date.now() + 30_000).toISOString() };
      await namespace.create(workload(name, pods, { kind, annotations }));
      const first = await newHash(cluster, ns, kind, name);
      const start = await settledRevisions(cluster, ns, kind, name);
      const second = await edit("2", first);
      await revisionsToBe(cluster, ns, kind, name, start + 1);
      const third = await edit("3", second);
      await revisionsToBe(cluster, ns, kind, name, start + 2);
      await edit("2", third);
      // Kubernetes has observed the write, and has no fourth revision.
      await revisionsToBe(cluster, ns, kind, name, start + 2);
      const causes = (await ownedRevisions()).map(({ metadata }) => metadata.annotations?.[causeName] ?? "");
      const digits = [second, third].map((hash) => hash.slice(3, 19));
      expect(digits.filter((each) => causes.some((cause) => cause.includes(`"hash":"${each}"`)))).toEqual(digits);

      const revisions = await until("the end", async () => {
        const all = await history(kind, name);
        return (all.at(-1) as { rollout?: { end?: unknown } }).rollout?.end ? all : undefined;
      });
      expect(revisions.at(-1)).toMatchObject({
        hash: second,
        rollout: {
          why: expect.stringContaining(`ConfigMap "${name}" changed (key "a")`),
          edits: [{ kind: "ConfigMap", namespace: ns, name, keys: ["a"], editedBy: "argocd-controller" }],
          end: { result: "complete" },
        },
      });
      expect(revisions.at(-2)).toMatchObject({ hash: third, rollout: { edits: [{ name }] } });
    });

    it("is not written to the pod template, and no write of it alone makes a revision", async () => {
      const { spec, metadata } = await getWorkload(cluster, ns, kind, name);
      expect(Object.keys(spec.template.metadata.annotations ?? {})).toEqual(["wave.pusher.com/config-hash"]);
      const before = await settledRevisions(cluster, ns, kind, name);
      const path = `/apis/apps/v1/namespaces/${ns}/${workloadKinds.find((row) => row.kind === kind)?.plural}/${name}`;
      await namespace.merge(path, { metadata: { annotations: { [causeName]: null } } });
      await edit("4", spec.template.metadata.annotations?.["wave.pusher.com/config-hash"]);
      await revisionsToBe(cluster, ns, kind, name, before + 1);
      expect((await getWorkload(cluster, ns, kind, name)).metadata.annotations?.[causeName]).not.toBe(
        metadata.annotations?.[causeName],
      );
    });
  });

  it("names object, key and editor of an edit that a window held over the end of the process", async () => {
    const [held, name] = ["cause-held", "web"];
    const { create, merge } = await makeNamespace(cluster, held);
    const args = ["--kubeconfig", cluster.kubeconfig, `--namespaces=${held}`];
    const first = await startWave(args);
    // One client writes all keys, so `managedFields` does not show which of them it changed.
    const write = (method: string, path: string, body: object) => {
      const url = `/api/v1/namespaces/${held}/configmaps${path}?fieldManager=argocd-controller`;
      return cluster.api(method, url, body, method === "PATCH" ? "application/merge-patch+json" : undefined);
    };
    await write("POST", "", { metadata: { name }, data: { a: "1", b: "1", d: "1" } });
    const opensAt = `${(new Date().getUTCHours() + 12) % 24}`.padStart(2, "0");
    const window = `Mon-Sun ${opensAt}:00-${opensAt}:30`;
    const optional = { name: "D", valueFrom: { configMapKeyRef: { name, key: "d", optional: true } } };
    const pods = { containers: [{ ...container, envFrom: [{ configMapRef: { name } }], env: [optional] }] };
    await create(workload(name, pods, { annotations: { "wave.pusher.com/window": window } }));
    const before = await newHash(cluster, held, "Deployment", name);
    await settledRevisions(cluster, held, "Deployment", name);
    await write("PATCH", `/${name}`, { data: { b: "2", c: "1", d: null } });
    const reported = () =>
      until("the Event", async () =>
        (await waveEvents(cluster, held, name)).find(({ reason }) => reason === "RolloutHeld"),
      );
    const { message } = await reported();
    await first.stop("SIGKILL");
    await cluster.api("DELETE", `/api/v1/namespaces/${held}/events`);

    const again = await startWave(args);
    onTestFinished(async () => {
      await again.stop();
    });
    const why = `ConfigMap "${name}" changed (keys "b", "c" and "d")`;
    expect(message).toContain(`${why}, last edited by "argocd-controller"`);
    expect((await reported()).message).toBe(message);
    const explain = ["explain", `deployment/${name}`, "-n", held, "--kubeconfig", cluster.kubeconfig];
    expect((await promisify(execFile)(waveCommand, explain)).stdout).toContain(
      `${why}, last edited by "argocd-controller"`,
    );
    const path = workloadPath(held, "Deployment", name);
    await merge(path, { metadata: { annotations: { "wave.pusher.com/window": null } } });
    await newHash(cluster, held, "Deployment", name, before);
    const { annotations = {} } = (await getWorkload(cluster, held, "Deployment", name)).metadata;
    const edit = { kind: "ConfigMap", namespace: held, name, keys: ["b", "c", "d"], by: "argocd-controller" };
    expect(JSON.parse(annotations[causeName] ?? "")).toMatchObject({ why, edits: [edit], heldBy: "window" });
  });

  it("is in the timeline, beside its edit and its end", async () => {
    const args = ["timeline", "-n", ns, "-o", "json", "--kubeconfig", cluster.kubeconfig];
    const { entries } = JSON.parse((await promisify(execFile)(waveCommand, args)).stdout);
    for (const { kind } of workloadKinds) {
      const name = `web-${kind.toLowerCase()}`;
      expect(entries).toContainEqual(
        expect.objectContaining({
          type: "rollout",
          about: `${kind.toLowerCase()}/${name}`,
          details: [`ConfigMap ${name} (a)`],
          by: "argocd-controller",
          result: "complete",
        }),
      );
      expect(entries).toContainEqual(
        expect.objectContaining({ type: "edit", about: `configmap/${name}`, details: ["a"], by: "argocd-controller" }),
      );
    }
  });
});
