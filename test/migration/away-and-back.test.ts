import { createHash } from "node:crypto";
import { expect, it, onTestFinished } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until, type WaveProcess } from "../control-plane/wave-process.ts";
import { container, makeNamespace, workloadPath } from "../end-to-end/objects.ts";
import { firstTemplateHash, getWorkload, revisionsToBe, settledRevisions } from "../end-to-end/state.ts";
import { auditWritten, leftBehind, startFor, untilUnchanged, writesIn } from "./migrated.ts";

const sap = "pod-reloader.cs.sap.com";

describeOnControlPlane("away from Wave and back", (cluster) => {
  const start = async (ns: string, compatibility: string) => {
    const wave = await startFor(cluster, ns, `--compatibility=${compatibility}`);
    onTestFinished(async () => void (await wave.stop("SIGKILL")));
    return wave;
  };
  /** Writes into the pod template of Deployment web like another controller. */
  const writes = (ns: string, annotations: Record<string, string>) =>
    cluster.api(
      "PATCH",
      workloadPath(ns, "Deployment", "web"),
      { spec: { template: { metadata: { annotations } } } },
      "application/merge-patch+json",
    );
  const annotationsOf = async (ns: string) =>
    (await getWorkload(cluster, ns, "Deployment", "web")).spec.template.metadata.annotations ?? {};
  /** Runs Wave until it has planned the workload, and returns its writes. */
  const written = async (ns: string, compatibility: string) => {
    await auditWritten(cluster);
    const before = writesIn(cluster, ns).length;
    const wave = await start(ns, compatibility);
    await untilUnchanged(wave, "Deployment", "web");
    expect(await wave.stop()).toBe(0);
    await auditWritten(cluster);
    return writesIn(cluster, ns).slice(before);
  };

  /** A Wave that stops before its rollout is complete notes for the next leader that the configuration differed. The next one removes the note. */
  const stopAfterRollout = async (wave: WaveProcess) => {
    await until("the rollout to be complete", async () => wave.log().includes('"msg":"rollout complete"') || undefined);
    expect(await wave.stop()).toBe(0);
  };

  it("with SAP's pod-reloader: its hashes stay, also on workloads that it rolled; then one edit causes one rollout", async () => {
    const ns = "away-to-pod-reloader";
    const namespace = await makeNamespace(cluster, ns);
    await namespace.configMap("settings", { colour: "red" });
    const hash = async () => {
      const { metadata } = await cluster.api("GET", `/api/v1/namespaces/${ns}/configmaps/settings`);
      const text = `configmap/${ns}/settings/${metadata.uid}.${metadata.resourceVersion}\n`;
      return createHash("sha256").update(text).digest("hex");
    };
    const recorded = async () => (await annotationsOf(ns))[`${sap}/config-hash`];
    const annotations = { [`${sap}/configmaps`]: "settings" };
    await namespace.create(leftBehind("web", { containers: [container] }, { annotations }));
    await settledRevisions(cluster, ns, "Deployment", "web");
    await namespace.edit("ConfigMap", "settings", { colour: "yellow" });
    const first = await start(ns, "sap");
    await until("Wave's hash", async () => ((await recorded())?.startsWith("v2:") ? true : undefined));
    await stopAfterRollout(first);

    await writes(ns, { [`${sap}/config-hash`]: await hash() });
    await namespace.edit("ConfigMap", "settings", { colour: "blue" });
    const theirs = await hash();
    await writes(ns, { [`${sap}/config-hash`]: theirs });
    const before = await settledRevisions(cluster, ns, "Deployment", "web");
    expect(await written(ns, "sap")).toEqual([]);
    expect(await recorded()).toBe(theirs);

    const wave = await start(ns, "sap");
    await untilUnchanged(wave, "Deployment", "web");
    await namespace.edit("ConfigMap", "settings", { colour: "green" });
    await until("Wave's hash", async () => ((await recorded())?.startsWith("v2:") ? true : undefined));
    expect(await wave.stop()).toBe(0);
    await revisionsToBe(cluster, ns, "Deployment", "web", before + 1);
  });

  it("with Reloader: its traces stay, and Wave does not restart Pods that Reloader has restarted since the edit", async () => {
    const ns = "away-to-reloader";
    const namespace = await makeNamespace(cluster, ns);
    await namespace.configMap("settings", { colour: "red" });
    const podSpec = { containers: [{ ...container, envFrom: [{ configMapRef: { name: "settings" } }] }] };
    const annotations = { "reloader.stakater.com/auto": "true" };
    await namespace.create(leftBehind("web", podSpec, { annotations }));
    const first = await start(ns, "stakater");
    await untilUnchanged(first, "Deployment", "web");
    await namespace.edit("ConfigMap", "settings", { colour: "blue" });
    const hash = await firstTemplateHash(cluster, ns, "Deployment", "web");
    await stopAfterRollout(first);

    const reloaded = (at: string) => ({
      "reloader.stakater.com/last-reloaded-from": `{"name":"settings","at":"${at}"}`,
    });
    await writes(ns, reloaded("1"));
    const before = await settledRevisions(cluster, ns, "Deployment", "web");
    expect(await written(ns, "stakater")).toEqual([]);
    expect(await annotationsOf(ns)).toMatchObject({ ...reloaded("1"), "wave.pusher.com/config-hash": hash });
    await revisionsToBe(cluster, ns, "Deployment", "web", before);

    await namespace.edit("ConfigMap", "settings", { colour: "green" });
    const editedAt = Math.floor(Date.now() / 1000);
    await until("the next second", async () => Date.now() / 1000 >= editedAt + 1 || undefined);
    await writes(ns, reloaded("2"));
    await revisionsToBe(cluster, ns, "Deployment", "web", before + 1);
    expect(await written(ns, "stakater")).toEqual(["patch deployments web"]);
    expect(await annotationsOf(ns)).toMatchObject({ ...reloaded("2"), "wave.pusher.com/config-hash": hash });
    await revisionsToBe(cluster, ns, "Deployment", "web", before + 1);
  });
});
