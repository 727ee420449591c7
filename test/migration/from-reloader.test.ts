import { expect, it, onTestFinished } from "vitest";
import type { AnyObject } from "../control-plane/cluster.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { container, makeNamespace, optIn, workloadKinds } from "../end-to-end/objects.ts";
import { firstTemplateHash, getWorkload, revisionsToBe, settledRevisions, templateHash } from "../end-to-end/state.ts";
import { auditWritten, leftBehind, startFor, untilUnchanged, writesIn } from "./migrated.ts";

const ns = "from-reloader";

/** The fields that Reloader wrote into the pod template of a rolled workload: environment variables, or its annotation. */
const left = {
  env: [{ name: "STAKATER_SETTINGS_CONFIGMAP", value: "0c0ffee" }],
  template: { "reloader.stakater.com/last-reloaded-from": '{"type":"CONFIGMAP","name":"settings","namespace":"x"}' },
};

describeOnControlPlane("Wave after Stakater's Reloader", (cluster) => {
  it("restarts no workload, records the configuration outside the pod templates, and rolls workloads once for an edit", async () => {
    const namespace = await makeNamespace(cluster, ns);
    await namespace.configMap("settings", { colour: "red" });
    await namespace.configMap("other", { colour: "red" });
    const reads = (name: string) => ({
      containers: [{ ...container, env: left.env, envFrom: [{ configMapRef: { name } }] }],
    });
    const auto = { "reloader.stakater.com/auto": "true" };
    const named = { "configmap.reloader.stakater.com/reload": "settings" };
    for (const { kind } of workloadKinds) {
      await namespace.create(
        leftBehind("auto", reads("settings"), { kind, annotations: auto, template: left.template }),
      );
    }
    await namespace.create(leftBehind("named", { containers: [container] }, { annotations: named }));
    await namespace.create(leftBehind("other", reads("other"), { annotations: auto, template: left.template }));
    const those = [
      ...workloadKinds.map(({ kind }) => ({ kind, name: "auto" })),
      { kind: "Deployment", name: "named" } as const,
    ];
    const starts = await Promise.all(those.map(({ kind, name }) => settledRevisions(cluster, ns, kind, name)));

    const first = await startFor(cluster, ns, "--compatibility=stakater");
    onTestFinished(async () => void (await first.stop("SIGKILL")));
    const every = [...those, { kind: "Deployment", name: "other" } as const];
    for (const { kind, name } of every) await untilUnchanged(first, kind, name);
    expect(await first.stop()).toBe(0);
    for (const { kind, name } of every) expect(await templateHash(cluster, ns, kind, name)).toBeUndefined();
    for (const [index, { kind, name }] of those.entries()) {
      expect(await settledRevisions(cluster, ns, kind, name)).toBe(starts[index]);
    }
    await auditWritten(cluster);
    const noted = writesIn(cluster, ns);
    expect(noted).toHaveLength(every.length);

    const second = await startFor(cluster, ns, "--compatibility=stakater");
    onTestFinished(async () => void (await second.stop("SIGKILL")));
    for (const { kind, name } of every) await untilUnchanged(second, kind, name);
    await namespace.edit("ConfigMap", "settings", { colour: "blue" });
    for (const { kind, name } of those) expect(await firstTemplateHash(cluster, ns, kind, name)).toMatch(/^v2:/);
    expect(await second.stop()).toBe(0);
    for (const [index, { kind, name }] of those.entries()) {
      await revisionsToBe(cluster, ns, kind, name, (starts[index] ?? 0) + 1);
    }
    await auditWritten(cluster);
    expect(writesIn(cluster, ns)).toHaveLength(noted.length + those.length);
    expect(await templateHash(cluster, ns, "Deployment", "other")).toBeUndefined();
  });

  it("rolls for an object that was deleted and returns with another value, also if Wave was killed meanwhile", async () => {
    const shop = "returned-objects";
    const namespace = await makeNamespace(cluster, shop);
    const named = { "secret.reloader.stakater.com/reload": "db" };
    const reads = (optional: boolean) => ({
      containers: [{ ...container, envFrom: [{ secretRef: { name: "db", optional } }] }],
    });
    const peers = {
      outside: leftBehind("outside", { containers: [container] }, { annotations: named }),
      inside: leftBehind("inside", reads(false), { annotations: named }),
      optional: leftBehind("optional", reads(true), { annotations: { "reloader.stakater.com/auto": "true" } }),
    };
    const extra = { "wave.pusher.com/extra-secrets": "db", "wave.pusher.com/first-sight": "record" };
    const own = leftBehind("own", { containers: [container] }, { annotations: { ...optIn, ...extra } });
    await namespace.secret("db", { password: "1" });
    for (const object of [...Object.values(peers), own]) await namespace.create(object);
    const names = [...Object.keys(peers), "own"];
    const recordToBe = (isRemoved: boolean) =>
      until(`the Secret to be ${isRemoved ? "removed" : "present"} in each record`, async () => {
        const all = await Promise.all(Object.keys(peers).map((name) => getWorkload(cluster, shop, "Deployment", name)));
        const records = all.map(({ metadata }) => metadata.annotations?.["wave.pusher.com/recorded-config"] ?? "");
        return records.every((record) => record.includes("/db=") === isRemoved) || undefined;
      });
    const start = async () => {
      const wave = await startFor(cluster, shop, "--compatibility=wave,stakater");
      onTestFinished(async () => void (await wave.stop("SIGKILL")));
      return wave;
    };
    const first = await start();
    for (const name of names) await untilUnchanged(first, "Deployment", name);
    await namespace.remove("Secret", "db");
    await recordToBe(true);
    await namespace.secret("db", { password: "1" });
    await recordToBe(false);
    await namespace.remove("Secret", "db");
    await recordToBe(true);
    for (const name of names) expect(await templateHash(cluster, shop, "Deployment", name)).toBeUndefined();
    await first.stop("SIGKILL");
    await start();
    await namespace.secret("db", { password: "2" });
    for (const name of names) expect(await firstTemplateHash(cluster, shop, "Deployment", name)).toMatch(/^v2:/);
  });

  it("resumes a Deployment that Reloader left paused, and keeps a Deployment paused that a person paused", async () => {
    const paused = "left-paused-by-reloader";
    const namespace = await makeNamespace(cluster, paused);
    const at = { "deployment.reloader.stakater.com/paused-at": "2026-01-01T00:00:00Z" };
    const auto = { "reloader.stakater.com/auto": "true" };
    for (const [name, annotations] of [
      ["left", { ...auto, ...at }],
      ["person", auto],
    ] as const) {
      const object = leftBehind(name, { containers: [container] }, { annotations });
      Object.assign(object.spec, { paused: true });
      await namespace.create(object);
    }
    const wave = await startFor(cluster, paused, "--compatibility=stakater");
    onTestFinished(async () => void (await wave.stop("SIGKILL")));
    for (const name of ["left", "person"]) await untilUnchanged(wave, "Deployment", name);
    expect(await wave.stop()).toBe(0);
    const state = async (name: string) => {
      const path = `/apis/apps/v1/namespaces/${paused}/deployments/${name}`;
      const { metadata, spec } = await cluster.api<{ metadata: AnyObject["metadata"]; spec: { paused?: boolean } }>(
        "GET",
        path,
      );
      return [spec.paused ?? false, metadata.annotations];
    };
    expect(await state("left")).toEqual([false, expect.not.objectContaining(at)]);
    expect((await state("person"))[0]).toBe(true);
    await auditWritten(cluster);
    expect(writesIn(cluster, paused)).toEqual(["patch deployments left"]);
  });
});
