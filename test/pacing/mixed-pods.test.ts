import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseVerdict } from "../../src/domain/plan/verdict.ts";
import type { AnyObject, Cluster } from "../control-plane/cluster.ts";
import { describeOnOwnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, type WaveProcess, wave as waveCommand } from "../control-plane/wave-process.ts";
import { container, makeNamespace, type Namespace, workload, workloadPath } from "../end-to-end/objects.ts";

const byEnv = { containers: [{ ...container, envFrom: [{ configMapRef: { name: "page" } }] }] };

const hashName = "wave.pusher.com/config-hash";
const rolledAtName = "wave.pusher.com/rolled-at";

interface Pod extends AnyObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** A namespace with a Deployment whose Pods run, and that has its hash. */
async function scene(cluster: Cluster, ns: string, replicas: number) {
  const namespace: Namespace = await makeNamespace(cluster, ns);
  await namespace.create({ kind: "ConfigMap", metadata: { name: "page" }, data: { a: "good" } });
  await namespace.create(workload("web", byEnv, { spec: { replicas } }));
  const deployment = () => cluster.api<AnyObject>("GET", workloadPath(ns, "Deployment", "web"));
  const templateAnnotations = async () => {
    const { spec } = (await deployment()) as unknown as { spec: { template: { metadata: AnyObject["metadata"] } } };
    return spec.template.metadata.annotations ?? {};
  };
  const pods = async () => (await cluster.list(`/api/v1/namespaces/${ns}/pods`)) as unknown as readonly Pod[];
  const ready = () =>
    until("ready Pods of one revision", async () => {
      const annotations = await templateAnnotations();
      const { metadata } = await deployment();
      const isRecorded = hashName in annotations || "wave.pusher.com/recorded-config" in (metadata.annotations ?? {});
      const all = await pods();
      const isReady = ({ metadata, status }: Pod) =>
        metadata.deletionTimestamp === undefined &&
        [hashName, rolledAtName].every((name) => metadata.annotations?.[name] === annotations[name]) &&
        status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True");
      return isRecorded && all.length === replicas && all.every(isReady)
        ? all.map(({ metadata }) => metadata.name).sort()
        : undefined;
    });
  const annotate = (changes: Record<string, string | null>) =>
    namespace.merge(workloadPath(ns, "Deployment", "web"), { metadata: { annotations: changes } });
  const edit = (value: string) => namespace.edit("ConfigMap", "page", { a: value });
  const events = async (reason: string) =>
    (await cluster.list(`/api/v1/namespaces/${ns}/events`)).filter((event) => event.reason === reason);
  const remove = (pod: string) => cluster.api("DELETE", `/api/v1/namespaces/${ns}/pods/${pod}`);
  const settled = () =>
    until("the end of the repair", async () => {
      const { metadata } = await deployment();
      return metadata.annotations?.["wave.pusher.com/config-differed"] === undefined ? true : undefined;
    });
  return { ready, annotate, edit, events, remove, settled, templateAnnotations, pods, deployment };
}

/** Longer than the margin of clocks: Pods that started before an edit are surely older. */
const apart = () => new Promise((resolve) => setTimeout(resolve, 6_500));

describeOnOwnControlPlane("mixed Pods", (cluster) => {
  let wave: WaveProcess;
  beforeAll(async () => {
    wave = await startWave(["--kubeconfig", cluster.kubeconfig]);
  });
  afterAll(() => wave.stop());

  it.concurrent("are replaced by a rollout after a held edit was reverted", async () => {
    const { ready, annotate, edit, events, remove, settled, templateAnnotations } = await scene(
      cluster,
      "mixed-held",
      4,
    );
    const before = await ready();
    await apart();
    await annotate({ "wave.pusher.com/hold": "true" });
    await edit("bad");
    await until("the hold", async () => ((await events("RolloutHeld")).length > 0 ? true : undefined));
    await remove(before[0] as string);
    const [mixed] = (await ready()).filter((name) => !before.includes(name));
    await edit("good");
    const isOfPods = ({ message }: AnyObject) =>
      `${message}`.includes("1 of 4 Pods may run configuration that was reverted");
    await until("the report", async () => (await events("RolloutHeld")).find(isOfPods));
    expect(await ready()).toContain(mixed);
    await annotate({ "wave.pusher.com/hold": null });
    await until("the rollout", async () => (await templateAnnotations())["wave.pusher.com/rolled-at"]);
    await settled();
    expect(await ready()).not.toContain(mixed);
  });

  it.concurrent("are replaced by one rollout with the same hash", async () => {
    const all = await scene(cluster, "mixed-rolled", 1);
    const { ready, annotate, edit, remove, settled, templateAnnotations, pods } = all;
    const [first] = await ready();
    const { "wave.pusher.com/config-hash": hash } = await templateAnnotations();
    await apart();
    await annotate({ "wave.pusher.com/mode": "observe" });
    await edit("bad");
    await remove(first as string);
    const [mixed] = await ready();
    await edit("good");
    await annotate({ "wave.pusher.com/mode": null });
    const rolledAt = await until("the rollout", async () => (await templateAnnotations())["wave.pusher.com/rolled-at"]);
    await settled();
    // The hash is the same before and after: only the time of the rollout shows that a Pod is new.
    const last = await until("the new Pod", async () => {
      const [pod, ...others] = await pods();
      return others.length === 0 && pod?.metadata.annotations?.["wave.pusher.com/rolled-at"] === rolledAt
        ? pod
        : undefined;
    });
    expect(last.metadata.name).not.toBe(mixed);
    expect(await templateAnnotations()).toEqual({ ...(hash && { [hashName]: hash }), [rolledAtName]: rolledAt });
    const history = [
      "history",
      "deployment/web",
      "-n",
      "mixed-rolled",
      "-o",
      "json",
      "--kubeconfig",
      cluster.kubeconfig,
    ];
    const { revisions } = JSON.parse((await promisify(execFile)(waveCommand, history)).stdout);
    const why = "1 of 1 Pod may run configuration that was reverted";
    expect(revisions.at(-1)).toMatchObject({ cause: "mixed", rollout: { why } });
    expect(revisions.at(-2).rollout?.why).not.toBe(why);
  });

  it.concurrent("do not exist if no container started in between: no Pod is replaced, and nothing is reported", async () => {
    const { ready, annotate, edit, events, settled, deployment } = await scene(cluster, "mixed-none", 2);
    const before = await ready();
    await apart();
    const { generation } = (await deployment()).metadata;
    await annotate({ "wave.pusher.com/hold": "true" });
    await edit("bad");
    await until(
      "the note of the difference",
      async () => (await deployment()).metadata.annotations?.["wave.pusher.com/config-differed"],
    );
    const stateOf = async () => (await deployment()).metadata.annotations?.["wave.pusher.com/state"];
    await until("the state", async () => (parseVerdict(await stateOf())?.state === "held" ? true : undefined));
    await edit("good");
    await annotate({ "wave.pusher.com/hold": null });
    await settled();
    expect(await ready()).toEqual(before);
    expect(await events("ConfigChanged")).toEqual([]);
    await until("the end of the state", async () => ((await stateOf()) === undefined ? true : undefined));
    // Two edits of this test; the note, its end and its removal by Wave; the state and its removal.
    expect((await deployment()).metadata.generation).toBe(Number(generation) + 7);
  });

  // Stops the Wave that the other cases need.
  it("are found by the next leader if Wave stopped a moment after the edit, and the edit was reverted before it starts", async () => {
    const { ready, annotate, edit, events, remove, deployment } = await scene(cluster, "mixed-stopped", 2);
    const before = await ready();
    await apart();
    await annotate({ "wave.pusher.com/hold": "true" });
    await edit("bad");
    await until("the hold", async () => ((await events("RolloutHeld")).length > 0 ? true : undefined));
    await wave.stop();
    expect((await deployment()).metadata.annotations).toHaveProperty(["wave.pusher.com/config-differed"]);
    await remove(before[0] as string);
    await ready();
    await edit("good");
    await annotate({ "wave.pusher.com/hold": null });
    wave = await startWave(["--kubeconfig", cluster.kubeconfig]);
    await until("the report", async () => (await events("ConfigChanged"))[0]);
  });
});
