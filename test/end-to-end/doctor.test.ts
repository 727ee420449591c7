import { execFile } from "node:child_process";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Diagnosis } from "../../src/cli/doctor/doctor-output.ts";
import { createAuthority } from "../../src/webhook/certificates/certificates.ts";
import { configurations, helm, reads } from "../admission/admitted.ts";
import { makeAccount } from "../control-plane/accounts.ts";
import type { AnyObject } from "../control-plane/cluster.ts";
import { controlPlaneFolder } from "../control-plane/control-plane.ts";
import { describeOnOwnControlPlane } from "../control-plane/suite.ts";
import { until, wave as waveCommand } from "../control-plane/wave-process.ts";
import { leadToReplica, nameHost, type Release, type Replica, startReplica } from "../deploy/installed.ts";
import { chart } from "../deploy/rendered.ts";
import { blocksFollowedBy, exchangesOf, printsAsIn } from "../docs/fences.ts";
import { temporaryFiles } from "../support/kube/files.ts";
import { container, makeNamespace, type Namespace, workload } from "./objects.ts";

const ns = "shop";
const system = "wave-system";
const shortTerms = "leaderElection.leaseDuration=8s";
const values = ["--set", `webhooks.enabled=true,${shortTerms}`];
const release: Release = { name: "wave", namespace: system, values };
const configuration = `${configurations}/wave-webhook`;
const service = `/api/v1/namespaces/${system}/services/wave-webhook`;
const deployment = `/apis/apps/v1/namespaces/${system}/deployments/wave`;
const mergePatch = "application/merge-patch+json";

const helmRelease = "meta.helm.sh/release-name";

interface WithContainers {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly { image: string; args: string[] }[] } };
  };
}

// A Wave in all namespaces would roll the workloads of other suites.
describeOnOwnControlPlane("wave doctor", (cluster) => {
  let shop: Namespace;
  let running: Replica | undefined;

  /** Runs a command that a person copied, with `wave`, `kubectl` and `helm` on the PATH. */
  const shell = (command: string, kubeconfig = cluster.kubeconfig) =>
    new Promise<{ code: number; out: string }>((resolve) => {
      const PATH = [dirname(waveCommand), controlPlaneFolder(), process.env.PATH].join(delimiter);
      const env = { ...process.env, PATH, KUBECONFIG: kubeconfig };
      const child = execFile("sh", ["-c", command], { env }, (_error, out, err) =>
        resolve({ code: child.exitCode ?? -1, out: out + err }),
      );
    });
  const diagnose = async (args = `-n ${ns}`, kubeconfig?: string): Promise<Diagnosis & { code: number }> => {
    const { code, out } = await shell(`wave doctor -o json ${args} 2>/dev/null`, kubeconfig);
    return { ...JSON.parse(out), code };
  };
  const healthy = async () => {
    let last: unknown;
    await until("the doctor to find nothing", async () => {
      const { code, ...diagnosis } = await diagnose();
      last = diagnosis.findings;
      return code === 0 && diagnosis.findings.length === 0 ? true : undefined;
    }).catch((cause: unknown) => expect(last, String(cause)).toEqual([]));
  };
  /** Resolves to the finding of a check, when the finding matches. */
  const found = (check: string, what: RegExp) =>
    until(`${check} to report ${what}`, async () => {
      const diagnosis = await diagnose();
      const finding = diagnosis.findings.find((each) => each.check === check && what.test(each.what));
      if (finding === undefined) throw new Error(JSON.stringify(diagnosis.findings, null, 2));
      if (finding.severity === "problem") expect(diagnosis.code).toBe(1);
      return finding;
    });
  const follow = async ({ fix }: { readonly fix: string | null }) => {
    const { code, out } = await shell(fix ?? "exit 1");
    expect(code, `${fix}: ${out}`).toBe(0);
  };

  const lead = async () => {
    if (running !== undefined) await leadToReplica(cluster, release, running);
  };
  const start = async () => {
    running = await startReplica(cluster, release);
    await lead();
  };
  const stop = async () => {
    await running?.stop("SIGKILL");
    running = undefined;
  };
  const merge = (path: string, patch: object) => cluster.api("PATCH", path, patch, mergePatch);
  const containersOf = async (path: string) =>
    (await cluster.api<WithContainers>("GET", path)).spec.template.spec.containers;
  const argsOf = async () => (await containersOf(deployment))[0]?.args ?? [];
  const setArgs = async (args: readonly string[]) => {
    const patch = [{ op: "replace", path: "/spec/template/spec/containers/0/args", value: args }];
    await cluster.api("PATCH", deployment, patch, "application/json-patch+json");
  };

  beforeAll(async () => {
    shop = await makeNamespace(cluster, ns);
    await shop.configMap("page", { a: "1" });
    await shop.create(workload("web", reads("page")));
    await helm(cluster, ["install", "wave", chart, "-n", system, "--create-namespace", ...values]);
    await nameHost(cluster, release);
    await start();
  });
  afterAll(() => stop());

  it("finds nothing in a healthy cluster, also in all namespaces", async () => {
    await healthy();
    const { code, checks } = await diagnose("-A");
    expect({ code, bad: checks.filter(({ severity }) => severity !== "ok") }).toEqual({ code: 0, bad: [] });
    expect(checks.map(({ check }) => check)).toContain("webhook");
  });

  it("has an installed Wave beside which no other Wave starts outside the cluster, unless a person insists", async () => {
    const run = "wave run --metrics-bind-address=0 --health-probe-bind-address=0";
    const { code, out } = await shell(run);
    expect({ code, out }).toEqual({
      code: 2,
      out: expect.stringMatching(
        /^error: deployment\/wave in wave-system already rolls the same workloads, .*--beside-installed\n$/,
      ),
    });
    // The output ends the program, because `timeout` signals it.
    for (const flag of ["--beside-installed", "--observe"]) {
      const { out: log } = await shell(`timeout 5 ${run} ${flag} --namespaces=elsewhere`);
      expect(log).toContain("starting");
      expect(log).not.toContain("already rolls");
    }
  });

  it("prints the output of the page", async () => {
    const blocks = blocksFollowedBy("test/end-to-end/doctor.test.ts", "docs/commands.md");
    expect(blocks).toHaveLength(1);
    const podSpec = { containers: [{ ...container, envFrom: [{ configMapRef: { name: "flags" } }] }] };
    await shop.create(workload("mail", podSpec));
    const label = { "wave.pusher.com/update-on-config-change": "true" };
    const lab = workload("lab", { containers: [container] });
    await shop.create({ ...lab, metadata: { name: "lab", labels: label } } as never);
    for (const { command, output } of blocks.flatMap(exchangesOf)) {
      let out = "";
      await until("the doctor to print it", async () => {
        ({ out } = await shell(command));
        return printsAsIn(output, out) ? true : undefined;
      }).catch(() => expect(out).toBe(output.join("\n")));
    }
    await cluster.kubectl(["-n", ns, "delete", "deployment", "mail", "lab"]);
    await healthy();
  });

  it("finds missing permissions of Wave if a binding is deleted, as one problem", async () => {
    await cluster.kubectl(["delete", "clusterrolebinding", "wave"]);
    const finding = await found("permissions", /^ServiceAccount wave has none of the permissions of role wave\. /);
    const { findings } = await diagnose();
    expect(findings.filter(({ check }) => check === "permissions")).toHaveLength(1);
    expect(findings.filter(({ what }) => what.includes("does not reach"))).toEqual([]);
    await follow(finding);
    await lead();
    await healthy();
    const rules = await cluster.api<AnyObject & { rules: { resources: string[] }[] }>(
      "GET",
      "/apis/rbac.authorization.k8s.io/v1/clusterroles/wave",
    );
    await merge("/apis/rbac.authorization.k8s.io/v1/clusterroles/wave", {
      rules: rules.rules.filter(({ resources }) => !resources.includes("secrets")),
    });
    await follow(
      await found(
        "permissions",
        /^ServiceAccount wave lacks permission to list, watch and get secrets \(ClusterRole\)\.$/,
      ),
    );
    await lead();
    await healthy();
  });

  it("finds a missing leader and an unreachable webhook, without printing its path", async () => {
    await merge(configuration, {
      webhooks: (await cluster.api<{ webhooks: object[] }>("GET", configuration)).webhooks.map((each) => ({
        ...each,
        failurePolicy: "Fail",
        timeoutSeconds: 1,
      })),
    });
    await stop();
    expect(await found("leader", /does not renew the Lease\.$/)).toMatchObject({
      where: { kind: "Lease", namespace: system, name: "wave" },
    });
    const { what } = await found("webhook", /The API server does not reach Wave: /);
    expect(what).toContain("/mutate/…");
    expect(what).not.toMatch(/mutate\/\w/);
    await merge(configuration, {
      webhooks: (await cluster.api<{ webhooks: object[] }>("GET", configuration)).webhooks.map((each) => ({
        ...each,
        failurePolicy: "Ignore",
      })),
    });
    await found("webhook", /returned without a hash/);
    const { certificate } = createAuthority("somebody", {
      notBefore: Date.now() - 1_000,
      notAfter: Date.now() + 86_400_000 * 30,
    });
    const value = Buffer.from(certificate.pem).toString("base64");
    const patch = [{ op: "replace", path: "/webhooks/0/clientConfig/caBundle", value }];
    await cluster.api("PATCH", configuration, patch, "application/json-patch+json");
    await found("webhook", /The caBundle does not trust the certificate in Secret wave-webhook-authority/);
    const old = createAuthority("wave webhook authority old", {
      notBefore: Date.now() - 86_400_000,
      notAfter: Date.now() - 3_600_000,
    });
    const encode = (text: string) => Buffer.from(text).toString("base64");
    const data = {
      "tls.crt": encode(old.certificate.pem),
      "tls.key": encode(old.key),
      "ca.crt": encode(old.certificate.pem),
    };
    await merge(`/api/v1/namespaces/${system}/secrets/wave-webhook-authority`, { data });
    await found("webhook", /The certificate expired (59m|60m|1h) ago/);
    // Wave repairs all of this when it runs.
    await start();
    await healthy();
  });

  it("finds a webhook configuration that is missing, left over, or without endpoints", async () => {
    await cluster.api("DELETE", configuration);
    await follow(await found("webhook", /^The webhook is not registered\./));
    await lead();
    await healthy();
    await merge(service, { spec: { type: "ClusterIP", externalName: null, selector: { none: "such" } } });
    await found("webhook", /^The Service has no ready endpoint/);
    await lead();
    const args = await argsOf();
    await setArgs(args.filter((arg) => !arg.includes("webhook")));
    expect(await found("leftovers", /runs without --enable-webhooks/)).toMatchObject({
      severity: "warning",
      fix: "kubectl delete mutatingwebhookconfiguration/wave-webhook",
    });
    await setArgs(args);
    await healthy();
  });

  it("finds missing replicas, with the cause", async () => {
    await cluster.kubectl(["-n", system, "scale", "deployment/wave", "--replicas=0"]);
    const held = { ...reads("page"), schedulerName: "wave.pusher.com/invalid" };
    const annotations = { "wave.pusher.com/scheduling-disabled": "" };
    // The Pods of this control plane run no process, so scaling does not stop Wave.
    await stop();
    await shop.create(workload("held", held, { annotations }));
    const stranded = await found("leftovers", /^1 Pod stays pending: held-[a-z0-9-]+\. .* no Wave runs/);
    await follow(stranded);
    await until("no stranded Pod", async () =>
      (await diagnose()).findings.some(({ check }) => check === "leftovers") ? undefined : true,
    );
    await cluster.kubectl(["-n", ns, "delete", "deployment", "held"]);
    await start();
    await follow(await found("wave", /^Wave is scaled to 0/));
    await healthy();
    const { spec } = await cluster.api<AnyObject & { spec: { strategy: object } }>("GET", deployment);
    const nowhere = { template: { spec: { nodeSelector: { none: "such" } } } };
    await merge(deployment, { spec: { ...nowhere, strategy: { type: "Recreate", rollingUpdate: null } } });
    expect(await found("wave", /^0 of 2 replicas are ready\. Kubernetes found no node for the Pod\.$/)).toMatchObject({
      severity: "problem",
    });
    await merge(deployment, { spec: { template: { spec: { nodeSelector: null } }, strategy: spec.strategy } });
    await healthy();
  });

  it("finds a replica without standby, replicas without election, and a hold of every rollout", async () => {
    await cluster.kubectl(["-n", system, "scale", "deployment/wave", "--replicas=1"]);
    await follow(await found("leader", /^No replica is on standby/));
    await healthy();
    const args = await argsOf();
    await setArgs([...args.filter((arg) => !arg.startsWith("--leader-election")), "--leader-election=false"]);
    await follow(await found("leader", /^All 2 replicas write/));
    expect((await diagnose()).findings.filter(({ what }) => /replicas write/.test(what))).toEqual([]);
    await setArgs(args);
    await follow(await found("leader", /^No replica is on standby/));
    await healthy();
    expect(await shell("wave hold --cluster")).toMatchObject({ code: 0 });
    await follow(await found("wave", /^Every rollout is held/));
    await healthy();
  });

  it("finds an upgrade whose new Pods crash while the old Pods are ready", async () => {
    // Without a node, so that the tests decide about the status of the new Pod.
    await merge(deployment, { spec: { template: { spec: { nodeSelector: { none: "such" } } } } });
    const pods = `/api/v1/namespaces/${system}/pods`;
    const fresh = await until("the new Pod", async () => {
      const all = await cluster.list(`${pods}?labelSelector=app.kubernetes.io/name=wave`);
      return all.find(({ spec }) => (spec as { nodeName?: string }).nodeName === undefined);
    });
    const status = (state: object) => ({
      containerStatuses: [
        { name: "wave", image: "wave:2", imageID: "", ready: false, restartCount: 3, state, lastState: {} },
      ],
    });
    const crashed = { ...status({ waiting: { reason: "CrashLoopBackOff" } }) };
    Object.assign(crashed.containerStatuses[0] ?? {}, { lastState: { terminated: { exitCode: 2 } } });
    await merge(`${pods}/${fresh.metadata.name}/status`, { status: crashed });
    expect(
      await found("wave", /^The upgrade of Wave does not finish, .* exited with code 2 \(CrashLoopBackOff\)\.$/),
    ).toMatchObject({
      severity: "problem",
      fix: `kubectl logs -n ${system} pod/${fresh.metadata.name} --previous`,
    });
    await merge(`${pods}/${fresh.metadata.name}/status`, {
      status: status({ waiting: { reason: "ImagePullBackOff" } }),
    });
    const unpulled = /cannot pull image "wave:2" \(ImagePullBackOff\)\.$/;
    const byHelm = await found("wave", unpulled);
    // Another tool than Helm has installed Wave.
    const byRelease = (name: string | null) =>
      merge(deployment, { metadata: { annotations: { [helmRelease]: name } } });
    await byRelease(null);
    const byKubectl = await found("wave", unpulled);
    await byRelease("wave");
    const image = async () => (await containersOf(deployment))[0]?.image;
    await follow({ fix: (byKubectl.fix ?? "").replace("IMAGE:TAG", "wave:3") });
    expect(await image()).toBe("wave:3");
    await follow({ fix: (byHelm.fix ?? "").replace("IMAGE", "registry.example/wave").replace("TAG", "4") });
    expect(await image()).toBe("registry.example/wave:4");
    await lead();
    await merge(deployment, { spec: { template: { spec: { nodeSelector: null } } } });
    await healthy();
  });

  it("finds a replica with another image", async () => {
    const pods = await cluster.list(`/api/v1/namespaces/${system}/pods?labelSelector=app.kubernetes.io/name=wave`);
    const pod = pods.find(({ metadata }) => metadata.deletionTimestamp === undefined);
    await cluster.kubectl(["-n", system, "set", "image", `pod/${pod?.metadata.name}`, "wave=other:1"]);
    await follow(await found("wave", /^Replica wave-\S+ runs image "other:1", and the Deployment has /));
    await healthy();
  });

  it("finds unknown flags, and namespaces that do not exist", async () => {
    const args = await argsOf();
    await setArgs([...args, `--namespaces=${ns},gone`, "--setle=1s"]);
    await found("flags", /^Wave rejects its flags: unknown flag "--setle"; did you mean --settle\?$/);
    await setArgs([...args, `--namespaces=${ns},gone`]);
    await follow(await found("flags", /^Namespace gone does not exist\./));
    await healthy();
    await setArgs(args);
  });

  it("finds a second Wave, and another controller for the same workloads", async () => {
    const { spec } = await cluster.api<AnyObject & { spec: object }>("GET", deployment);
    const labels = { "app.kubernetes.io/name": "wave", "app.kubernetes.io/version": "0.1.0" };
    await cluster.api("POST", `/apis/apps/v1/namespaces/${ns}/deployments`, {
      metadata: { name: "second", labels },
      spec,
    });
    const second = await found("wave", /^Two Waves roll the same workloads\./);
    expect(second.fix).toMatch(/^kubectl scale -n /);
    await cluster.api("DELETE", `/apis/apps/v1/namespaces/${ns}/deployments/second`);
    const other = workload(
      "reloader",
      { containers: [{ name: "reloader", image: "ghcr.io/stakater/reloader:v1.4.1" }] },
      { annotations: { "wave.pusher.com/update-on-config-change": "false" } },
    );
    await shop.create(other);
    const web = `/apis/apps/v1/namespaces/${ns}/deployments/web`;
    await merge(web, { metadata: { annotations: { "reloader.stakater.com/auto": "true" } } });
    const both = await found("others", /^1 workload opts in to both Wave and Stakater Reloader\./);
    expect(both.severity).toBe("warning");
    const args = await argsOf();
    await setArgs([...args, "--compatibility=wave,stakater"]);
    await follow(await found("others", /^Stakater Reloader runs, and Wave uses the same annotations/));
    await setArgs(args);
    await healthy();
  });

  it("finds waiting workloads, and annotations without effect", async () => {
    await shop.create(
      workload("mail", { containers: [{ name: "app", image: "nginx", envFrom: [{ secretRef: { name: "db" } }] }] }),
    );
    const waiting = await found("workloads", /^Waiting for Secret "db"\./);
    expect(waiting).toMatchObject({ severity: "problem", where: { kind: "Deployment", namespace: ns, name: "mail" } });
    await follow({ fix: (waiting.fix ?? "").replace("KEY=FILE", "password=/etc/hostname") });
    const optIn = "wave.pusher.com/update-on-config-change";
    const label = { ...workload("label", reads("page")), metadata: { name: "label", labels: { [optIn]: "true" } } };
    await shop.create(label);
    await shop.create(
      workload("prefix", reads("page"), { annotations: { [optIn]: "", "waves.pusher.com/hold": "true" } }),
    );
    await follow(await found("annotations", /^Label /));
    await follow(await found("annotations", /^Annotation "waves\.pusher\.com\/hold" has no effect/));
    const annotations = { "waves.pusher.com/min-interval": "1s" };
    const metadata = { labels: { app: "template" }, annotations };
    const template = { metadata, spec: { containers: [container] } };
    await shop.create(workload("template", {}, { spec: { template } }));
    await follow(await found("annotations", /^Annotation "waves\.pusher\.com\/min-interval" on the pod template /));
    await healthy();
    // The Wave of the last change of flags may still wait for the Lease of the one before.
    await until("the first hash", async () => {
      const { out } = await shell(`wave list -n ${ns}`);
      return /^deployment\/label +current /m.test(out) ? true : undefined;
    });
  });

  it("finds an object that another namespace does not share", async () => {
    const elsewhere = await makeNamespace(cluster, "elsewhere");
    const args = await argsOf();
    await setArgs([...args, "--cross-namespace"]);
    const annotations = { "wave.pusher.com/extra-configmaps": "elsewhere/footer" };
    await shop.create(workload("foot", { containers: [container] }, { annotations }));
    const unshared = await found("workloads", /^Waiting for ConfigMap "elsewhere\/footer"\./);
    await elsewhere.configMap("footer", { a: "1" });
    await follow(unshared);
    await until("the object to be shared", async () => {
      const { findings } = await diagnose();
      return findings.some(({ what }) => what.includes("footer")) ? undefined : true;
    });
    await cluster.kubectl(["-n", ns, "delete", "deployment", "foot"]);
    await setArgs(args);
    await healthy();
  });

  it("finds the finalizer of an old Wave", async () => {
    const web = `/apis/apps/v1/namespaces/${ns}/deployments/web`;
    await merge(web, { metadata: { finalizers: ["wave.pusher.com/finalizer"] } });
    expect(await found("leftovers", /^[Ff]inalizer wave\.pusher\.com\/finalizer /)).toMatchObject({
      severity: "warning",
    });
    await merge(web, { metadata: { finalizers: null } });
    await healthy();
  });

  it("does not advise to delete the webhook of another Wave", async () => {
    await cluster.kubectl(["create", "namespace", "second"]);
    const labels = { "app.kubernetes.io/name": "wave" };
    const template = {
      metadata: { labels },
      spec: { containers: [{ name: "wave", image: "wave", args: ["run", "--namespaces=shop"] }] },
    };
    const metadata = { name: "wave", namespace: "second", labels };
    const spec = { replicas: 1, selector: { matchLabels: labels }, template };
    await cluster.api("POST", "/apis/apps/v1/namespaces/second/deployments", { metadata, spec });
    const two = await found("wave", /^Two Waves roll the same workloads/);
    const { findings } = await diagnose();
    expect(findings.filter(({ fix }) => fix?.startsWith("kubectl delete"))).toEqual([]);
    await follow(two);
    await healthy();
    await cluster.kubectl(["delete", "namespace", "second"]);
    await healthy();
  });

  it("reports to a user with few permissions what was not checked, and checks the rest", async () => {
    const rule = { apiGroups: ["", "apps"], resources: ["configmaps", "deployments"], verbs: ["get", "list"] };
    const kubeconfig = join(
      await temporaryFiles({ kubeconfig: await makeAccount(cluster, ns, "reader", rule) }),
      "kubeconfig",
    );
    const { code, checks, findings } = await diagnose(`-n ${ns}`, kubeconfig);
    expect(code).toBe(3);
    expect(findings.filter(({ severity }) => severity !== "unchecked")).toEqual([]);
    expect(findings.map(({ what }) => what)).toContain(
      "You do not have permission to list statefulsets, daemonsets, secrets and pods in shop. Workloads that depend on them were not checked.",
    );
    expect(findings.map(({ what }) => what)).toContain(
      "The flags, permissions, leader and webhook of the running Wave were not checked. You do not have permission to list deployments in all namespaces.",
    );
    const { out } = await shell(`wave doctor -n ${ns} >/dev/null`, kubeconfig);
    expect(out).toMatch(
      /^warning: Incomplete checks: access, wave, .*\. Missing permissions: "list statefulsets in shop", /,
    );
    expect(checks).toContainEqual({ check: "api", severity: "ok", summary: expect.stringMatching(/^Kubernetes v1\./) });
  });

  it("finds what kubectl delete namespace leaves, and prints commands that remove it", async () => {
    await stop();
    const pinning = ["--set", "pinConfig.enabled=true,webhooks.failurePolicy=Fail"];
    await helm(cluster, ["upgrade", "wave", chart, "-n", system, ...values, ...pinning]);
    await cluster.kubectl(["delete", "namespace", system]);
    const blocked = cluster.kubectl(["-n", ns, "patch", "deployment", "web", "-p", '{"spec":{"paused":true}}']);
    await expect(blocked).rejects.toThrow("failed calling webhook");
    const webhook = await found("leftovers", /^The webhook of Wave is left over: Service wave-webhook /);
    expect(webhook.severity).toBe("problem");
    await follow(webhook);
    await follow(await found("leftovers", /^Policies of Wave are left over/));
    await until("no leftovers", async () =>
      (await diagnose("-A")).findings.some(({ check }) => check === "leftovers") ? undefined : true,
    );
    await cluster.kubectl(["-n", ns, "patch", "deployment", "web", "-p", '{"spec":{"paused":true}}']);
  });
});
