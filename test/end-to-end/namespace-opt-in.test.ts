import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, type WaveProcess } from "../control-plane/wave-process.ts";
import { container, makeNamespace, type Namespace, type WorkloadKind, workload, workloadKinds } from "./objects.ts";
import { getWorkload, newHash, recordedHash, templateHash, waveEvents } from "./state.ts";

const ns = "namespace-opt-in";
const optIn = "wave.pusher.com/update-on-config-change";
const envFrom = [{ configMapRef: { name: "app" } }];
const reads = { containers: [{ ...container, envFrom }] };

/** A workload without annotations, also without those of other controllers. No other client annotates a StatefulSet either. */
function silent(name: string, kind: WorkloadKind, podSpec: Record<string, unknown> = reads) {
  const { metadata, ...rest } = workload(name, podSpec, { kind });
  return { ...rest, metadata: { name: metadata.name } };
}

describeOnControlPlane("a Namespace that opts in", (cluster) => {
  let namespace: Namespace;
  let wave: WaveProcess;

  const say = async (value: string | null) => {
    const path = `/api/v1/namespaces/${ns}`;
    const patch = { metadata: { annotations: { [optIn]: value } } };
    await cluster.api("PATCH", path, patch, "application/merge-patch+json");
  };
  const hashOf = (kind: WorkloadKind, name = "web") => recordedHash(cluster, ns, kind, name);
  const annotationsOf = async (kind: WorkloadKind, name = "web") =>
    (await getWorkload(cluster, ns, kind, name)).metadata.annotations;

  beforeAll(async () => {
    namespace = await makeNamespace(cluster, ns);
    await namespace.configMap("app", { a: "1" });
    for (const { kind } of workloadKinds) {
      await namespace.create(silent("web", kind));
      await namespace.create(workload("declines", reads, { kind, annotations: { [optIn]: "false" } }));
    }
    await namespace.create(workload("canary", reads));
    wave = await startWave(["--kubeconfig", cluster.kubeconfig, `--namespaces=${ns}`]);
    await newHash(cluster, ns, "Deployment", "canary");
  });
  afterAll(async () => {
    await wave?.stop();
  });

  it("does not change workloads without annotations before it opts in", async () => {
    for (const { kind } of workloadKinds) expect(await hashOf(kind)).toBeUndefined();
  });

  describe.for(workloadKinds)("rolls a $kind", ({ kind }) => {
    it("without annotations when its configuration is edited, and only for content that its hash includes", async () => {
      await say("true");
      const first = await newHash(cluster, ns, kind, "web");
      await namespace.edit("ConfigMap", "app", { a: `edited for ${kind}` });
      await newHash(cluster, ns, kind, "web", first);
      // The baseline is there if the Pods were newer than the ConfigMap when the Namespace opted in.
      const baseline = "wave.pusher.com/recorded-config";
      const brought = Object.entries((await annotationsOf(kind)) ?? {}).filter(
        ([name]) => name.includes("wave") && name !== baseline,
      );
      expect(brought).toEqual([
        ["wave.pusher.com/cause", expect.stringContaining('ConfigMap \\"app\\" changed (key \\"a\\")')],
        ["wave.pusher.com/config-digests", expect.any(String)],
        ["wave.pusher.com/consecutive-rollouts", expect.stringMatching(/^\d$/)],
      ]);
      await until("an Event", async () => (await waveEvents(cluster, ns, "web"))[0]);
      expect(await hashOf(kind, "declines")).toBeUndefined();
    });

    it("that is created later, and removes its scheduling hold", async () => {
      await say("true");
      const held = { ...reads, schedulerName: "wave.pusher.com/invalid" };
      await namespace.create(silent("later", kind, held));
      await newHash(cluster, ns, kind, "later");
      const { spec } = await getWorkload(cluster, ns, kind, "later");
      expect(spec.template.spec.schedulerName).toBe("default-scheduler");
    });
  });

  it("has no effect after its opt-in is removed, and leaves no scheduling hold behind", async () => {
    const hashes = () => Promise.all(workloadKinds.map(({ kind }) => hashOf(kind)));
    const before = await hashes();
    const waiting = { containers: [{ ...container, envFrom: [{ configMapRef: { name: "absent" } }] }] };
    const held = { ...waiting, schedulerName: "wave.pusher.com/invalid" };
    await namespace.create(silent("held", "StatefulSet", held));
    await until("it to wait", async () =>
      (await waveEvents(cluster, ns, "held")).some(({ message }) => message.includes("absent")) ? true : undefined,
    );
    await say(null);
    await until("its scheduling hold to be opened", async () => {
      const { spec } = await getWorkload(cluster, ns, "StatefulSet", "held");
      return spec.template.spec.schedulerName === "default-scheduler" ? true : undefined;
    });
    const canary = await hashOf("Deployment", "canary");
    await namespace.edit("ConfigMap", "app", { a: "edited at last" });
    await newHash(cluster, ns, "Deployment", "canary", canary);
    expect(await hashes()).toEqual(before);
  });

  it.for(workloadKinds)(
    "records the configuration of a $kind without annotations whose hash key is lost",
    async ({ kind }) => {
      await say("true");
      const recorded = `v2-01234567:${"0".repeat(64)}`;
      const { spec, ...rest } = silent("lost", kind);
      const annotations = { "wave.pusher.com/config-hash": recorded };
      const template = { ...spec.template, metadata: { ...spec.template.metadata, annotations } };
      await namespace.create({ ...rest, spec: { ...spec, template } });
      const noted = async () => (await annotationsOf(kind, "lost"))?.["wave.pusher.com/recorded-config"];
      expect(await until("a baseline", noted)).toContain(`${recorded} v2:`);
      expect(await templateHash(cluster, ns, kind, "lost")).toBe(recorded);
    },
  );
});
