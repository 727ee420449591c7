import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeAccount } from "../control-plane/accounts.ts";
import type { AnyObject } from "../control-plane/cluster.ts";
import { describeOnOwnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, type WaveProcess, wave as wavePath } from "../control-plane/wave-process.ts";
import { type ChartAccount, chartAccount } from "../deploy/chart-account.ts";
import { container, makeNamespace, type Namespace, optIn } from "../end-to-end/objects.ts";
import { waveEvents } from "../end-to-end/state.ts";
import { define, type PlayedKind, pathOf, playedKinds } from "./kinds.ts";

const ns = "kinds-borrowed";
/** What is recorded while the Deployment is written. */
const beingRolled = `v2:${"0".repeat(64)}`;
const configHash = "wave.pusher.com/config-hash";
const run = promisify(execFile);

/** Plays the controller of Argo Rollouts: records which generation of the Deployment was rolled out. */
describeOnOwnControlPlane("a Rollout with the pod template of a Deployment", (cluster) => {
  const rollouts = playedKinds.find(({ plural }) => plural === "rollouts") as PlayedKind;
  const deployments = `/apis/apps/v1/namespaces/${ns}/deployments`;
  let namespace: Namespace;
  let account: ChartAccount;
  let wave: WaveProcess;

  beforeAll(async () => {
    namespace = await makeNamespace(cluster, ns);
    await define(cluster, rollouts);
    const values = `namespaces={${ns}},workloadKinds={${rollouts.flag}},compatibility={wave,stakater}`;
    account = await chartAccount(cluster, ns, values);
    const flags = [`--namespaces=${ns}`, `--workload-kinds=${rollouts.flag}`, "--compatibility=wave,stakater"];
    wave = await startWave(["--kubeconfig", account.kubeconfig, ...flags]);
  });
  afterAll(async () => {
    await wave?.stop();
    await account?.remove();
  });

  interface WithTemplate extends AnyObject {
    readonly spec: { readonly template: { readonly metadata: { readonly annotations?: Record<string, string> } } };
  }
  const rollout = (name: string) => cluster.api("GET", pathOf(rollouts, ns, name));
  const recorded = async (name: string) => (await rollout(name)).metadata.annotations?.[configHash];
  const deployment = (name: string) => cluster.api<WithTemplate>("GET", `${deployments}/${name}`);
  const inTemplate = async (name: string) => (await deployment(name)).spec.template.metadata.annotations?.[configHash];

  /** Creates a Deployment without Pods. */
  const makeDeployment = (name: string) =>
    cluster.api("POST", deployments, {
      metadata: { name },
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: name } },
        template: {
          metadata: { labels: { app: name } },
          spec: { containers: [{ ...container, envFrom: [{ configMapRef: { name } }] }] },
        },
      },
    });

  /** Creates a Deployment and a Rollout whose template source is this Deployment. */
  async function make(name: string, annotations: Readonly<Record<string, string>> = {}): Promise<void> {
    await makeDeployment(name);
    const workloadRef = { apiVersion: "apps/v1", kind: "Deployment", name };
    const { apiVersion, kind } = rollouts;
    const spec = { ...rollouts.spec, selector: { matchLabels: { app: name } }, workloadRef };
    const metadata = { name, annotations: { ...optIn, ...annotations } };
    await cluster.api("POST", pathOf(rollouts, ns), { apiVersion, kind, metadata, spec });
  }

  /** Reports that the Pods have the current template. */
  async function rollOut(name: string): Promise<void> {
    const generation = `${(await deployment(name)).metadata.generation}`;
    const path = pathOf(rollouts, ns, name);
    const merge = "application/merge-patch+json";
    const annotations = { "rollout.argoproj.io/workload-generation": generation };
    await cluster.api("PATCH", path, { metadata: { annotations } }, merge);
    const { metadata, spec } = await rollout(name);
    const restartedAt = (spec as { readonly restartAt?: string }).restartAt;
    const status = { ...rollouts.status(metadata.generation ?? 0, 1), workloadObservedGeneration: generation };
    await cluster.api("PATCH", `${path}/status`, { status: { ...status, restartedAt } }, merge);
  }

  const command = async (...args: string[]) =>
    (
      await run(wavePath, [...args, "-n", ns, `--workload-kinds=${rollouts.flag}`], {
        env: { ...process.env, KUBECONFIG: cluster.kubeconfig },
      })
    ).stdout;
  const next = (name: string, before?: string) =>
    until(`a new hash on ${name}`, async () => {
      const hash = await recorded(name);
      return hash === before || hash === beingRolled ? undefined : hash;
    });

  it("rolls once when an object that the Deployment's template reads is edited, and not for its first hash", async () => {
    await namespace.configMap("web", { a: "1" });
    await make("web");
    const first = await next("web");
    expect(await inTemplate("web")).toBeUndefined();
    await rollOut("web");
    const { generation = 0 } = (await deployment("web")).metadata;
    await namespace.edit("ConfigMap", "web", { a: "2" });
    const second = await next("web", first);
    expect(await inTemplate("web")).toBe(second);
    expect((await deployment("web")).metadata.generation).toBe(generation + 1);
    const events = await until("an Event", async () => {
      const changed = (await waveEvents(cluster, ns, "web")).filter(({ reason }) => reason === "ConfigChanged");
      return changed.length > 0 ? changed : undefined;
    });
    expect(events).toHaveLength(1);
    expect(events[0]?.involvedObject).toMatchObject({ kind: "Rollout", name: "web" });
    // The rollout is under way until Argo Rollouts has seen the template.
    expect(await command("list")).toMatch(/rollouts.argoproj.io\/web +rolling/);
    await rollOut("web");
    expect(await command("wait", "rollouts.argoproj.io/web", "--timeout=120s")).toContain("web");
    expect(await command("explain", "rollouts.argoproj.io/web")).toMatch(/ConfigMap web +present/);
  });

  it("reads what the Deployment's template currently reads", async () => {
    const before = await recorded("web");
    await namespace.configMap("more", { b: "1" });
    const envFrom = [{ configMapRef: { name: "web" } }, { configMapRef: { name: "more" } }];
    const spec = { template: { spec: { containers: [{ ...container, envFrom }] } } };
    await cluster.api("PATCH", `${deployments}/web`, { spec }, "application/strategic-merge-patch+json");
    await rollOut("web");
    const withMore = await next("web", before);
    await rollOut("web");
    await namespace.edit("ConfigMap", "more", { b: "2" });
    const hash = await next("web", withMore);
    expect(await inTemplate("web")).toBe(hash);
    await rollOut("web");
  });

  it("restarts when its annotation requests it, and writes nothing to the Deployment", async () => {
    await namespace.configMap("restarted", { a: "1" });
    await make("restarted", { "reloader.stakater.com/rollout-strategy": "restart" });
    const first = await next("restarted");
    await rollOut("restarted");
    await namespace.edit("ConfigMap", "restarted", { a: "2" });
    await next("restarted", first);
    expect((await rollout("restarted")).spec).toHaveProperty("restartAt");
    expect((await deployment("restarted")).metadata.generation).toBe(1);
  });

  it("reports a missing Deployment, and rolls once when the Deployment exists", async () => {
    await namespace.configMap("late", { a: "1" });
    await make("late");
    const first = await next("late");
    await rollOut("late");
    await cluster.api("DELETE", `${deployments}/late`);
    await namespace.edit("ConfigMap", "late", { a: "2" });
    const [event] = await until("an Event", async () => {
      const found = (await waveEvents(cluster, ns, "late")).filter(({ reason }) => reason === "RolloutRefused");
      return found.length > 0 ? found : undefined;
    });
    expect(event?.message).toContain('The template source "Deployment" "late" does not exist in this namespace');
    expect(await recorded("late")).toBe(first);
    await makeDeployment("late");
    await rollOut("late");
    const second = await next("late", first);
    expect(await inTemplate("late")).toBe(second);
  });

  it("appears in wave diff with the template that the manifests give the Deployment, whether the Deployment exists or not", async () => {
    await namespace.configMap("planned", { a: "1" });
    await make("planned");
    await next("planned");
    await rollOut("planned");
    const stored = await deployment("planned");
    const file = (objects: readonly object[]) => JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
    const diff = async (objects: readonly object[]) => {
      const folder = await mkdtemp(join(tmpdir(), "wave-diff-"));
      try {
        await writeFile(join(folder, "all.json"), file(objects));
        const args = ["diff", "-f", folder, "-n", ns, "-ojson", `--workload-kinds=${rollouts.flag}`];
        const { stdout } = await run(wavePath, args, { env: { ...process.env, KUBECONFIG: cluster.kubeconfig } }).catch(
          (error: { readonly stdout: string }) => error,
        );
        return JSON.parse(stdout).workloads.map(({ kind, name, effect }: Record<string, string>) => [
          kind,
          name,
          effect,
        ]);
      } finally {
        await rm(folder, { recursive: true });
      }
    };
    const { apiVersion, kind } = rollouts;
    const named = (name: string, edit: (template: object) => object = (template) => template) => ({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name },
      spec: { ...(stored.spec as object), template: edit(stored.spec.template) },
    });
    const borrower = (name: string) => ({
      apiVersion,
      kind,
      metadata: { name, annotations: optIn },
      spec: { ...rollouts.spec, workloadRef: { apiVersion: "apps/v1", kind: "Deployment", name } },
    });
    const labelled = named("planned", (template) => ({
      ...template,
      metadata: { labels: { app: "planned", b: "1" } },
    }));
    expect(await diff([named("planned")])).toEqual([]);
    expect(await diff([labelled])).toEqual([
      ["Deployment", "planned", "template"],
      [rollouts.flag, "planned", "template"],
    ]);
    expect(await diff([borrower("new"), named("new")])).toEqual([[rollouts.flag, "new", "created"]]);
  });

  it("is omitted from lists, which report it, if the Deployment cannot be read; other workloads are listed", async () => {
    const rule = { apiGroups: ["argoproj.io"], resources: ["rollouts"], verbs: ["get", "list"] };
    const folder = await mkdtemp(join(tmpdir(), "wave-reader-"));
    try {
      const kubeconfig = join(folder, "kubeconfig");
      await writeFile(kubeconfig, await makeAccount(cluster, ns, "reader", rule));
      const args = ["list", "-n", ns, `--workload-kinds=${rollouts.flag}`, `--kubeconfig=${kubeconfig}`];
      const { stderr } = await run(wavePath, args).catch((error: { readonly stderr: string }) => error);
      expect(stderr).toMatch(
        /Cannot read the pod templates that workloads reference: rollouts.argoproj.io\/kinds-borrowed\/.* and \d+ more/,
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("needs only permissions that the chart grants", () => {
    expect(account.forbidden()).toEqual([]);
  });
});
