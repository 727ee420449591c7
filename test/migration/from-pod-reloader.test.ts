import { createHash } from "node:crypto";
import { expect, it, onTestFinished } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { container, makeNamespace, workloadKinds, workloadPath } from "../end-to-end/objects.ts";
import { type getWorkload, revisionsToBe, settledRevisions } from "../end-to-end/state.ts";
import { auditWritten, leftBehind, startFor, untilUnchanged, writesIn } from "./migrated.ts";

const ns = "from-pod-reloader";
const prefix = "pod-reloader.cs.sap.com";
const lists = { [`${prefix}/configmaps`]: "settings,none", [`${prefix}/secrets`]: "login" };

describeOnControlPlane("Wave after SAP's pod-reloader", (cluster) => {
  const version = async (path: string) => {
    const { metadata } = await cluster.api("GET", `/api/v1/namespaces/${ns}/${path}`);
    return `${metadata.uid}.${metadata.resourceVersion}`;
  };
  /** Returns the hash of pod-reloader. */
  const hash = async () => {
    const [settings, login] = [await version("configmaps/settings"), await version("secrets/login")];
    const text = `configmap/${ns}/settings/${settings}\nconfigmap/${ns}/none/\nsecret/${ns}/login/${login}\n`;
    return createHash("sha256").update(text).digest("hex");
  };
  const recorded = async (kind: (typeof workloadKinds)[number]["kind"], name: string) => {
    const path = workloadPath(ns, kind, name);
    const { spec } = await cluster.api<Awaited<ReturnType<typeof getWorkload>>>("GET", path);
    return spec.template.metadata.annotations;
  };

  it("writes nothing, and rolls workloads once for an edit and once for a change while no controller ran", async () => {
    const namespace = await makeNamespace(cluster, ns);
    await namespace.configMap("settings", { colour: "red" });
    await namespace.secret("login", { password: "pass" });
    const old = await hash();
    const podSpec = { containers: [container] };
    const stale = { annotations: lists, template: { [`${prefix}/config-hash`]: old } };
    await namespace.create(leftBehind("stale", podSpec, stale));
    await namespace.edit("ConfigMap", "settings", { colour: "blue" });
    const current = { [`${prefix}/config-hash`]: await hash() };
    for (const { kind } of workloadKinds) {
      await namespace.create(leftBehind("current", podSpec, { kind, annotations: lists, template: current }));
    }
    const starts = await Promise.all(workloadKinds.map(({ kind }) => settledRevisions(cluster, ns, kind, "current")));

    const wave = await startFor(cluster, ns, "--compatibility=sap");
    onTestFinished(async () => void (await wave.stop("SIGKILL")));
    const rolled = (kind: (typeof workloadKinds)[number]["kind"], name: string) =>
      until(`a hash of Wave's on ${kind} ${name}`, async () => {
        const annotations = await recorded(kind, name);
        return annotations?.[`${prefix}/config-hash`]?.startsWith("v2:") ? annotations : undefined;
      });
    await rolled("Deployment", "stale");
    for (const { kind } of workloadKinds) await untilUnchanged(wave, kind, "current");
    await auditWritten(cluster);
    expect(writesIn(cluster, ns)).toEqual(["patch deployments stale"]);
    for (const { kind } of workloadKinds) expect(await recorded(kind, "current")).toEqual(current);

    await namespace.edit("Secret", "login", { password: "word" });
    for (const { kind } of workloadKinds) {
      expect(Object.keys((await rolled(kind, "current")) ?? {})).toEqual([`${prefix}/config-hash`]);
    }
    expect(await wave.stop()).toBe(0);
    for (const [index, { kind }] of workloadKinds.entries()) {
      await revisionsToBe(cluster, ns, kind, "current", (starts[index] ?? 0) + 1);
    }
  });
});
