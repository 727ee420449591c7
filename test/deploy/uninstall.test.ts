import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { invalidScheduler } from "../../src/domain/model/scheduling-hold.ts";
import { configurations, helm, reads } from "../admission/admitted.ts";
import { type AnyObject, type Cluster, connect } from "../control-plane/cluster.ts";
import { type ControlPlane, readAuditLog, startControlPlane } from "../control-plane/control-plane.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { makeNamespace, type Namespace, workload } from "../end-to-end/objects.ts";
import { getWorkload } from "../end-to-end/state.ts";
import { accountOf, apply } from "./chart-account.ts";
import { compareWithUse, grantsOf } from "./grants.ts";
import { chart, type Manifest, manifestsIn } from "./rendered.ts";

const root = join(import.meta.dirname, "../..");
const release = "wave";
const hook = `${release}-uninstall`;
const ns = "shop";

interface HookJob extends Manifest {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly initContainers: readonly [HookContainer];
        readonly containers: readonly [HookContainer];
      };
    };
  };
}

interface HookContainer {
  readonly args: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
}

// A separate API server, because the hook releases the workloads of all namespaces.
describeOnControlPlane("helm uninstall", () => {
  let plane: ControlPlane;
  let cluster: Cluster;
  let shop: Namespace;
  let job: HookJob;
  let account: Awaited<ReturnType<typeof accountOf>>;
  let hooks: readonly Manifest[];

  beforeAll(async () => {
    plane = await startControlPlane();
    cluster = connect(plane);
    shop = await makeNamespace(cluster, ns);
    const values = ["--set", "webhooks.enabled=true,ownerReferences=true"];
    await helm(cluster, ["install", release, chart, "-n", release, "--create-namespace", ...values]);
    hooks = manifestsIn(await helm(cluster, ["get", "hooks", release, "-n", release])).filter(
      ({ metadata }) => metadata.annotations?.["helm.sh/hook"] === "pre-delete",
    );
    job = hooks.find(({ kind }) => kind === "Job") as HookJob;
    await apply(
      cluster,
      hooks.filter(({ kind }) => kind !== "Job"),
    );
    account = await accountOf(cluster, release, hook);
    await leaveHolds();
  });
  afterAll(async () => {
    await account?.remove();
    cluster?.close();
    await plane?.stop();
  });

  /** The state that a Wave with webhooks and owner references leaves while configuration is missing. */
  async function leaveHolds() {
    const annotations = { "wave.pusher.com/scheduling-disabled": "" };
    const held = { ...reads("late"), schedulerName: invalidScheduler };
    const finalizers = ["wave.pusher.com/finalizer"];
    for (const kind of ["Deployment", "DaemonSet"] as const) {
      await shop.create(workload("app", held, { kind, annotations }));
      await shop.merge(`/apis/apps/v1/namespaces/${ns}/${kind.toLowerCase()}s/app`, { metadata: { finalizers } });
    }
    // A StatefulSet with ordered Pods never replaces a pending Pod by itself.
    const spec = { podManagementPolicy: "OrderedReady" };
    await shop.create(workload("app", held, { kind: "StatefulSet", annotations, spec }));
    await until("the Pod that is held", () => pod("app-0"));
    await shop.configMap("late", { a: "1" });
    const { metadata } = await getWorkload(cluster, ns, "Deployment", "app");
    const namespace = await cluster.api("GET", `/api/v1/namespaces/${ns}`);
    const owner = { controller: false, blockOwnerDeletion: false };
    const ownerReferences = [
      { apiVersion: "apps/v1", kind: "Deployment", name: "app", uid: metadata.uid, ...owner },
      { apiVersion: "v1", kind: "Namespace", name: ns, uid: namespace.metadata.uid, ...owner },
    ];
    await shop.merge(`/api/v1/namespaces/${ns}/configmaps/late`, { metadata: { ownerReferences } });
  }

  const pod = (name: string) => cluster.api<AnyObject & PodState>("GET", `/api/v1/namespaces/${ns}/pods/${name}`);

  /** Starts a container of the hook on this machine: the program of the image, with the account of the hook. */
  async function start({ args, env = [] }: HookContainer) {
    const [token, authority] = [join(account.folder, "token"), join(account.folder, "authority")];
    const server = new URL(parse(readFileSync(cluster.kubeconfig, "utf8")).clusters[0].cluster.server);
    const isScript = args.length === 1;
    const command = isScript
      ? [process.execPath, "--input-type=module", "--eval", ...args]
      : [process.execPath, join(root, "src/controller.ts"), ...args, `--kubeconfig=${account.kubeconfig}`];
    const child = spawn(command[0] as string, command.slice(1), {
      env: {
        ...process.env,
        ...Object.fromEntries(env.map(({ name, value }) => [name, value])),
        CA_FILE: authority,
        TOKEN_FILE: token,
        KUBERNETES_SERVICE_HOST: server.hostname,
        KUBERNETES_SERVICE_PORT: server.port,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
    const ended = once(child, "close").then(([code, signal]) => ({ code, signal, output }));
    return { child, ended, output: () => output };
  }

  /** Removes the annotation by which Helm marks the Deployment of a release. */
  async function withoutRelease() {
    const deployment = `/apis/apps/v1/namespaces/${release}/deployments/${release}`;
    await shop.merge(deployment, { metadata: { annotations: { "meta.helm.sh/release-name": null } } });
  }

  const registration = () =>
    cluster.api("GET", `${configurations}/${release}-webhook`).catch((error: unknown) => String(error));

  it.for([[], ["--server-side"]])("does nothing if kubectl applied the Job with the manifests, %j", async (flags) => {
    await withoutRelease();
    await cluster.kubectl(["apply", ...flags, "-f", "-"], JSON.stringify(job));
    const { ended } = await start(job.spec.template.spec.initContainers[0]);
    expect(await ended).toMatchObject({ code: 1, output: expect.stringContaining("--no-hooks") });
    expect(await registration()).toMatchObject({ kind: "MutatingWebhookConfiguration" });
    await cluster.kubectl(["delete", "-n", release, "job", hook, "--wait"]);
  });

  it("releases every workload, also without Helm and if each step is killed and repeated", async () => {
    // As Argo CD does, which renders the chart by `helm template` and creates the objects of a hook.
    await withoutRelease();
    await cluster.api("POST", `/apis/batch/v1/namespaces/${release}/jobs`, job);
    const { initContainers, containers } = job.spec.template.spec;
    // Killed as soon as the webhook is gone, before Wave has stopped.
    const stopped = await start(initContainers[0]);
    await until("the webhook to be gone", async () => (typeof (await registration()) === "string" ? true : undefined));
    stopped.child.kill("SIGKILL");
    await stopped.ended;
    expect(await (await start(initContainers[0])).ended).toMatchObject({ code: 0 });
    expect(await getWorkload(cluster, release, "Deployment", release)).toMatchObject({ spec: { replicas: 0 } });
    // Killed between two writes.
    const released = await start(containers[0]);
    await until("a hold to be lifted", async () =>
      (await schedulers()).includes(invalidScheduler) ? undefined : true,
    );
    released.child.kill("SIGKILL");
    await released.ended;
    expect(await (await start(containers[0])).ended).toMatchObject({ code: 0 });
    expect(await schedulers()).toEqual(Array(3).fill("default-scheduler"));
    // Otherwise a later server-side apply of a scheduler would conflict with a Wave that is gone.
    const { metadata: written } = await getWorkload(cluster, ns, "Deployment", "app");
    expect(JSON.stringify(written)).not.toContain("f:schedulerName");
    await until("the ordered Pod to run", async () =>
      (await pod("app-0")).status.phase === "Running" ? true : undefined,
    );
    for (const kind of ["Deployment", "DaemonSet"] as const)
      expect((await getWorkload(cluster, ns, kind, "app")).metadata).not.toHaveProperty("finalizers");
    const { metadata } = await cluster.api("GET", `/api/v1/namespaces/${ns}/configmaps/late`);
    expect(metadata.ownerReferences).toBeUndefined();
    expect(await (await start(containers[0])).ended).toMatchObject({
      code: 0,
      output: expect.stringContaining("Nothing to release"),
    });
  });

  it("uses exactly the permissions of its roles", async () => {
    const user = `system:serviceaccount:${release}:${hook}`;
    const compared = () => compareWithUse(readAuditLog(plane.auditLog), user, grantsOf(hooks));
    // Only a conflict needs `get`, only Secrets with owners need `patch`.
    const spare = /: (get (deployments|statefulsets|daemonsets).apps|patch secrets|get secrets) in all namespaces$/;
    await until("the audit log", async () =>
      compared().unused.every((unused) => spare.test(unused)) ? true : undefined,
    ).catch(() => undefined);
    const { forbidden, unused } = compared();
    expect({ forbidden, unused: unused.filter((each) => !spare.test(each)) }).toEqual({ forbidden: [], unused: [] });
  });

  it("leaves nothing of the hook", async () => {
    await helm(cluster, ["uninstall", release, "-n", release, "--wait"]);
    const kinds = "jobs,serviceaccounts,roles,rolebindings,clusterroles,clusterrolebindings";
    const left = await cluster.kubectl([
      "get",
      kinds,
      "-A",
      "-l",
      `app.kubernetes.io/instance=${release}`,
      "-o",
      "name",
    ]);
    expect(left).toBe("");
  });

  async function schedulers() {
    const kinds = ["Deployment", "StatefulSet", "DaemonSet"] as const;
    const all = await Promise.all(kinds.map((kind) => getWorkload(cluster, ns, kind, "app")));
    return all.map(({ spec }) => spec.template.spec.schedulerName);
  }
});

interface PodState {
  readonly status: { readonly phase?: string };
}
