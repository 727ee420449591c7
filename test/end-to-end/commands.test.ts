import { execFile } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeAccount } from "../control-plane/accounts.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, type WaveProcess, wave as waveCommand } from "../control-plane/wave-process.ts";
import { temporaryFiles } from "../support/kube/files.ts";
import { container, makeNamespace, type Namespace, workload } from "./objects.ts";
import { newHash, recordedHash } from "./state.ts";

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
  /** Returns the second, third and fourth columns of `wave list`, by name. */
  const list = async (...args: readonly string[]) => {
    const { out } = await run("list", ...args);
    const rows = out
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => line.split(/ {3,}/));
    return Object.fromEntries(
      rows.map(([name = "", state, current, _ready, reason]) => [name, `${state} ${current} ${reason}`]),
    );
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

  it("waits right after kubectl apply until every Pod runs with the applied configuration", async () => {
    await namespace.configMap("page", { a: "1" });
    for (const name of ["web", "api"]) await deployment(name, "page");
    expect(await run("wait", "deploy/web", "deploy/api")).toMatchObject({ code: 0, err: "" });
    expect(await list()).toEqual({ "deployment/web": "current 2/2 -", "deployment/api": "current 2/2 -" });
    await namespace.edit("ConfigMap", "page", { a: "2" });
    const ended = await run("wait", "deploy", "web", "api");
    expect(ended).toMatchObject({ code: 0, err: "" });
    expect(ended.out).toMatch(/^deployment\/web: 2 of 2 Pods run with the current configuration\.$/m);
  });

  it("holds one workload, sees the hold, and releases the workload", async () => {
    expect((await run("hold", "deploy/web")).out).toContain("The workload is up to date. No rollout is due.\n");
    await namespace.edit("ConfigMap", "page", { a: "3" });
    expect((await run("wait", "deploy/api")).code).toBe(0);
    expect(await list()).toMatchObject({ "deployment/web": "held 0/2 hold", "deployment/api": "current 2/2 -" });
    const { code, err } = await run("wait", "deploy/web", "--timeout=500ms");
    expect(code).toBe(1);
    expect(err).toContain("still held (hold) after 500ms. Rollout held by annotation wave.pusher.com/hold");
    const explained = await run("explain", "deploy/web");
    expect(explained.out).toMatch(/^Pods +0 of 2 Pods run with the current configuration\.$/m);
    expect(explained.out).toMatch(/^Policy +hold: true \(workload annotation\)$/m);
    expect((await run("release", "deploy/web")).code).toBe(0);
    expect(await run("wait", "deploy/web")).toMatchObject({ code: 0, err: "" });
  });

  it("approves the configuration that it has read, and no later one", async () => {
    await annotate("web", { "wave.pusher.com/mode": "approve" });
    await namespace.edit("ConfigMap", "page", { a: "4" });
    await until("the rollout to be held", async () =>
      (await list())["deployment/web"] === "held 0/2 approval" ? true : undefined,
    );
    expect((await run("approve", "deploy/web")).out).toContain("deployment/web approved: hash ");
    expect(await run("wait", "deploy/web")).toMatchObject({ code: 0, err: "" });
    await namespace.edit("ConfigMap", "page", { a: "5" });
    expect((await run("wait", "deploy/web", "--timeout=500ms")).err).toContain("held (approval)");
    await annotate("web", { "wave.pusher.com/mode": null });
    expect((await run("wait", "deploy/web", "deploy/api")).code).toBe(0);
  });

  it.concurrent("waits for each kind by the rules of that kind", async () => {
    await namespace.configMap("kinds", { a: "1" });
    await namespace.create(workload("db", reads("kinds"), { kind: "StatefulSet" }));
    await namespace.create(workload("agent", reads("kinds"), { kind: "DaemonSet" }));
    expect(await run("wait", "sts/db", "ds/agent")).toMatchObject({ code: 0, err: "" });
    await namespace.edit("ConfigMap", "kinds", { a: "2" });
    expect(await run("wait", "sts/db", "ds/agent")).toMatchObject({ code: 0, err: "" });
    expect(await list("--state=current")).toMatchObject({
      "statefulset/db": "current 1/1 -",
      "daemonset/agent": "current 1/1 -",
    });
  });

  it.concurrent("does not report a paused or OnDelete workload with old Pods as up to date", async () => {
    await namespace.configMap("slow", { a: "1" });
    await deployment("paused", "slow");
    await namespace.create(
      workload("ondelete", reads("slow"), { kind: "DaemonSet", spec: { updateStrategy: { type: "OnDelete" } } }),
    );
    expect((await run("wait", "deploy/paused", "ds/ondelete")).code).toBe(0);
    await namespace.merge(path("paused"), { spec: { paused: true } });
    await namespace.edit("ConfigMap", "slow", { a: "2" });
    await until("both to be behind", async () => {
      const rows = await list();
      return rows["deployment/paused"] === "behind 0/2 paused" && rows["daemonset/ondelete"] === "behind 0/1 OnDelete"
        ? true
        : undefined;
    });
    expect((await run("explain", "deploy/paused")).out).toMatch(
      /^Now +The hash is current, but Kubernetes keeps old Pods\. 0 of 2 Pods run .* The workload is paused\.$/m,
    );
    expect((await run("wait", "deploy/paused", "--timeout=300ms")).code).toBe(1);
    await namespace.merge(path("paused"), { spec: { paused: false } });
    expect((await run("wait", "deploy/paused")).code).toBe(0);
  });

  it.concurrent("resumes a change that was halted because the canary failed", async () => {
    await namespace.configMap("bad", { a: "1" });
    const names = ["canary", "first", "second"];
    await deployment("canary", "bad", { "wave.pusher.com/priority": "1" }, { progressDeadlineSeconds: 2 });
    for (const name of names.slice(1)) await deployment(name, "bad");
    expect((await run("wait", "deploy", ...names)).code).toBe(0);
    const before = await recordedHash(cluster, ns, "Deployment", "canary");
    await namespace.edit("ConfigMap", "bad", { a: "2" });
    await newHash(cluster, ns, "Deployment", "canary", before);
    // No node matches, so the rollout that has just begun does not complete.
    const spec = { nodeSelector: { none: "such" } };
    await namespace.merge(path("canary"), { spec: { template: { spec } } });
    await until("the rest to be halted", async () => {
      const rows = await list();
      return rows["deployment/first"] === "held 0/2 halted" && rows["deployment/second"] === "held 0/2 halted"
        ? true
        : undefined;
    });
    expect((await list("--state=failed"))["deployment/canary"]).toMatch(/^failed \S+ deadline$/);
    expect((await run("wait", "deploy/first")).err).toContain("held (halted)");
    expect((await run("resume", "configmap/bad")).out).toContain(
      "the failure of deployment/canary no longer halts other workloads\n",
    );
    expect(await run("wait", "deploy/first", "deploy/second")).toMatchObject({ code: 0, err: "" });
  });

  it("sees the message of Kubernetes if a quota prevents new Pods", async () => {
    for (const name of ["full", "whole"]) await namespace.configMap(name, { a: "1" });
    await deployment("full", "full");
    await namespace.create(workload("whole", reads("whole"), { kind: "StatefulSet" }));
    expect((await run("wait", "deploy/full", "sts/whole")).code).toBe(0);
    await cluster.kubectl(["-n", ns, "create", "quota", "none", "--hard=pods=0"]);
    for (const name of ["full", "whole"]) await namespace.edit("ConfigMap", name, { a: "2" });
    await until("the new Pods to be refused", async () =>
      (await list())["deployment/full"] === "rolling 0/2 FailedCreate" ? true : undefined,
    );
    // A StatefulSet has no condition for this, only Events.
    await until("the StatefulSet's Pod to be refused", async () =>
      (await list())["statefulset/whole"] === "rolling 0/0 FailedCreate" ? true : undefined,
    );
    const refused = /^Kubernetes +FailedCreate: pods "full-[^"]+" is forbidden: exceeded quota: none, /m;
    expect((await run("explain", "deploy/full")).out).toMatch(refused);
    expect((await run("wait", "deploy/full", "--timeout=300ms")).err).toContain(" FailedCreate: pods ");
    await cluster.kubectl(["-n", ns, "delete", "quota/none", "deployment/full", "statefulset/whole"]);
  });

  it("lists the other workloads if it may not read Secrets", async () => {
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
    expect(out).toMatch(/^deployment\/secretive +unknown +- +- +forbidden /m);
    expect(out).toMatch(/^deployment\/api +current +2\/2 +2\/2 +- /m);
    expect(await wave(kubeconfig, "hold", "deploy/api")).toMatchObject({
      code: 3,
      err: expect.stringMatching(/^error: patch deployments\/api in commands: 403 Forbidden[^\n]*\n$/),
    });
  });
});
