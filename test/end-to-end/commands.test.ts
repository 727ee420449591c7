import { execFile } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeAccount } from "../control-plane/accounts.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, type WaveProcess, wave as waveCommand } from "../control-plane/wave-process.ts";
import { temporaryFiles } from "../support/kube/files.ts";
import { container, makeNamespace, type Namespace, workload } from "./objects.ts";

const ns = "commands";

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function wave(kubeconfig: string, ...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const flags = ["--kubeconfig", kubeconfig, "-n", ns, "--settle=0", "--soak=500ms"];
    const child = execFile(waveCommand, [...args, ...flags], (_error, out, err) =>
      resolve({ code: child.exitCode ?? -1, out, err }),
    );
  });
}

describeOnControlPlane("a user of the commands", (cluster) => {
  let namespace: Namespace;
  let running: WaveProcess;
  const run = (...args: readonly string[]) => wave(cluster.kubeconfig, ...args);
  /** The second, third and fourth column of the table of `wave list`, by name. */
  const list = async (...args: readonly string[]) => {
    const { out } = await run("list", ...args);
    const rows = out
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => line.split(/ {3,}/));
    return Object.fromEntries(rows.map(([name = "", ...rest]) => [name, rest.slice(0, 3).join(" ")]));
  };
  const reads = (name: string) => ({
    terminationGracePeriodSeconds: 0,
    containers: [{ ...container, envFrom: [{ configMapRef: { name } }] }],
  });
  const deployment = async (name: string, config: string, annotations: Record<string, string> = {}, spec = {}) => {
    const labels = { matchLabels: { app: name } };
    const template = { metadata: { labels: { app: name } }, spec: reads(config) };
    const object = workload(name, reads(config), {
      annotations,
      spec: { replicas: 2, selector: labels, template, ...spec },
    });
    await namespace.create(object);
  };
  const path = (name: string) => `/apis/apps/v1/namespaces/${ns}/deployments/${name}`;
  const annotate = (name: string, annotations: object) => namespace.merge(path(name), { metadata: { annotations } });

  beforeAll(async () => {
    namespace = await makeNamespace(cluster, ns);
    const flags = [`--namespaces=${ns}`, "--settle=0", "--soak=500ms"];
    running = await startWave(["--kubeconfig", cluster.kubeconfig, ...flags], { paced: true });
  });
  afterAll(async () => {
    await running?.stop();
  });

  it("waits right after the objects were applied, until every Pod runs with what was applied", async () => {
    await namespace.configMap("page", { a: "1" });
    for (const name of ["web", "api"]) await deployment(name, "page");
    expect(await run("wait", "deploy/web", "deploy/api")).toMatchObject({ code: 0, err: "" });
    expect(await list()).toEqual({ "deployment/web": "current - 2/2", "deployment/api": "current - 2/2" });
    await namespace.edit("ConfigMap", "page", { a: "2" });
    const ended = await run("wait", "deploy", "web", "api");
    expect(ended).toMatchObject({ code: 0, err: "" });
    expect(ended.out).toMatch(/^deployment\/web in commands: 2 of 2 Pods run with the current configuration$/m);
  });

  it("waits for each kind by its own rules", async () => {
    await namespace.configMap("kinds", { a: "1" });
    await namespace.create(workload("db", reads("kinds"), { kind: "StatefulSet" }));
    await namespace.create(workload("agent", reads("kinds"), { kind: "DaemonSet" }));
    expect(await run("wait", "sts/db", "ds/agent")).toMatchObject({ code: 0, err: "" });
    await namespace.edit("ConfigMap", "kinds", { a: "2" });
    expect(await run("wait", "sts/db", "ds/agent")).toMatchObject({ code: 0, err: "" });
    expect(await list("--state=current")).toMatchObject({
      "statefulset/db": "current - 1/1",
      "daemonset/agent": "current - 1/1",
    });
  });

  it("holds one workload, sees what holds it, and releases it", async () => {
    expect((await run("hold", "deploy/web")).out).toContain("It is up to date: nothing is to be rolled.\n");
    await namespace.edit("ConfigMap", "page", { a: "3" });
    expect((await run("wait", "deploy/api")).code).toBe(0);
    expect(await list()).toMatchObject({ "deployment/web": "held hold 0/2", "deployment/api": "current - 2/2" });
    const { code, err } = await run("wait", "deploy/web", "--timeout=500ms");
    expect(code).toBe(1);
    expect(err).toContain("after 500ms still held (hold): it is held by annotation wave.pusher.com/hold");
    const explained = await run("explain", "deploy/web");
    expect(explained.out).toMatch(/^Pods +0 of 2 Pods run with the current configuration$/m);
    expect(explained.out).toMatch(/^Policy +hold: true \(its own\)$/m);
    expect((await run("release", "deploy/web")).code).toBe(0);
    expect(await run("wait", "deploy/web")).toMatchObject({ code: 0, err: "" });
  });

  it("approves what it has looked at, and nothing that comes after it", async () => {
    await annotate("web", { "wave.pusher.com/mode": "approve" });
    await namespace.edit("ConfigMap", "page", { a: "4" });
    await until("the roll to be held", async () =>
      (await list())["deployment/web"] === "held approval 0/2" ? true : undefined,
    );
    expect((await run("approve", "deploy/web")).out).toContain("is approved.\n");
    expect(await run("wait", "deploy/web")).toMatchObject({ code: 0, err: "" });
    await namespace.edit("ConfigMap", "page", { a: "5" });
    expect((await run("wait", "deploy/web", "--timeout=500ms")).err).toContain("held (approval)");
    await annotate("web", { "wave.pusher.com/mode": null });
    expect((await run("wait", "deploy/web", "deploy/api")).code).toBe(0);
  });

  it("is never told that a paused Deployment or one of OnDelete is up to date whose Pods are not", async () => {
    await namespace.configMap("slow", { a: "1" });
    await deployment("paused", "slow");
    await namespace.create(
      workload("ondelete", reads("slow"), { kind: "DaemonSet", spec: { updateStrategy: { type: "OnDelete" } } }),
    );
    expect((await run("wait", "deploy/paused")).code).toBe(0);
    // Its first Pod has no hash, and stays as it is.
    await until("the hash to be recorded", async () =>
      (await list())["daemonset/ondelete"] === "behind OnDelete 0/1" ? true : undefined,
    );
    await namespace.merge(path("paused"), { spec: { paused: true } });
    await namespace.edit("ConfigMap", "slow", { a: "2" });
    await until("it to be behind", async () =>
      (await list())["deployment/paused"] === "behind paused 0/2" ? true : undefined,
    );
    expect((await run("explain", "deploy/paused")).out).toMatch(
      /^Now +Wave has done its part, and Kubernetes has not: 0 of 2 Pods run .* because it is paused$/m,
    );
    expect((await run("wait", "deploy/paused", "--timeout=300ms")).code).toBe(1);
    await namespace.merge(path("paused"), { spec: { paused: false } });
    expect((await run("wait", "deploy/paused")).code).toBe(0);
  });

  it("resumes a change that was halted because its first workload failed", async () => {
    await namespace.configMap("bad", { a: "1" });
    const names = ["canary", "first", "second"];
    await deployment("canary", "bad", { "wave.pusher.com/priority": "1" }, { progressDeadlineSeconds: 2 });
    for (const name of names.slice(1)) await deployment(name, "bad");
    expect((await run("wait", "deploy", ...names)).code).toBe(0);
    // No node is like this, so no new Pod of it ever runs.
    const spec = { nodeSelector: { none: "such" } };
    await namespace.merge(path("canary"), { spec: { template: { spec } } });
    await namespace.edit("ConfigMap", "bad", { a: "2" });
    await until("the rest to be halted", async () => {
      const rows = await list();
      return rows["deployment/first"] === "held halted 0/2" && rows["deployment/second"] === "held halted 0/2"
        ? true
        : undefined;
    });
    expect((await list("--state=failed"))["deployment/canary"]).toMatch(/^failed deadline /);
    expect((await run("wait", "deploy/first")).err).toContain("held (halted)");
    expect((await run("resume", "configmap/bad")).out).toContain(
      "the failure of deployment/canary halts nobody any more.\n",
    );
    expect(await run("wait", "deploy/first", "deploy/second")).toMatchObject({ code: 0, err: "" });
  });

  it("is told what Kubernetes says where a quota keeps new Pods from being made", async () => {
    for (const name of ["full", "whole"]) await namespace.configMap(name, { a: "1" });
    await deployment("full", "full");
    await namespace.create(workload("whole", reads("whole"), { kind: "StatefulSet" }));
    expect((await run("wait", "deploy/full", "sts/whole")).code).toBe(0);
    await cluster.kubectl(["-n", ns, "create", "quota", "none", "--hard=pods=0"]);
    for (const name of ["full", "whole"]) await namespace.edit("ConfigMap", name, { a: "2" });
    await until("the new Pods to be refused", async () =>
      (await list())["deployment/full"] === "rolling FailedCreate 0/2" ? true : undefined,
    );
    // It has no condition that tells of it, only Events.
    await until("the StatefulSet's Pod to be refused", async () =>
      (await list())["statefulset/whole"] === "rolling FailedCreate 0/0" ? true : undefined,
    );
    const refused = /^Kubernetes +FailedCreate: pods "full-[^"]+" is forbidden: exceeded quota: none, /m;
    expect((await run("explain", "deploy/full")).out).toMatch(refused);
    expect((await run("wait", "deploy/full", "--timeout=300ms")).err).toContain("; FailedCreate: pods ");
    await cluster.kubectl(["-n", ns, "delete", "quota/none", "deployment/full", "statefulset/whole"]);
  });

  it("lists what it can where it may not read Secrets", async () => {
    const rule = {
      apiGroups: ["", "apps"],
      resources: ["configmaps", "pods", "deployments", "statefulsets", "daemonsets", "namespaces"],
      verbs: ["get", "list"],
    };
    const kubeconfig = join(
      await temporaryFiles({ kubeconfig: await makeAccount(cluster, ns, "reader", rule) }),
      "kubeconfig",
    );
    await namespace.secret("db", { password: "hunter2" });
    const envFrom = [{ secretRef: { name: "db" } }];
    await namespace.create(workload("secretive", { containers: [{ ...container, envFrom }] }));
    const { code, out, err } = await wave(kubeconfig, "list");
    expect({ code, err }).toEqual({ code: 3, err: "" });
    expect(out).toMatch(/^deployment\/secretive +unknown +forbidden /m);
    expect(out).toMatch(/^deployment\/api +current +- +2\/2 /m);
    expect(await wave(kubeconfig, "hold", "deploy/api")).toMatchObject({
      code: 3,
      err: expect.stringMatching(/^error: patch deployments\/api in commands: 403 Forbidden[^\n]*\n$/),
    });
  });
});
