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
import { leadToReplica, type Release, type Replica, startReplica } from "../deploy/installed.ts";
import { chart } from "../deploy/rendered.ts";
import { blocksFollowedBy, exchangesOf, printsAsIn } from "../docs/fences.ts";
import { temporaryFiles } from "../support/kube/files.ts";
import { container, makeNamespace, type Namespace, workload } from "./objects.ts";

const ns = "shop";
const system = "wave-system";
const shortTerms = ["leaseDuration=8s", "renewDeadline=6s", "retryPeriod=500ms"]
  .map((term) => `leaderElection.${term}`)
  .join();
const values = ["--set", `webhooks.enabled=true,${shortTerms}`];
const release: Release = { name: "wave", namespace: system, values };
const configuration = `${configurations}/wave-webhook`;
const service = `/api/v1/namespaces/${system}/services/wave-webhook`;
const deployment = `/apis/apps/v1/namespaces/${system}/deployments/wave`;
const mergePatch = "application/merge-patch+json";

// A Wave in all namespaces would roll the workloads of other suites.
describeOnOwnControlPlane("wave doctor", (cluster) => {
  let shop: Namespace;
  let running: Replica | undefined;

  /** Runs a command as a person would who copied it: with `wave`, `kubectl` and `helm` on the path. */
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
  /** What one check finds, once it finds something that has this in it. */
  const found = (check: string, what: RegExp) =>
    until(`${check} to tell of ${what}`, async () => {
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
  const argsOf = async () =>
    (await cluster.api<{ spec: { template: { spec: { containers: { args: string[] }[] } } } }>("GET", deployment)).spec
      .template.spec.containers[0]?.args ?? [];
  const setArgs = async (args: readonly string[]) => {
    const patch = [{ op: "replace", path: "/spec/template/spec/containers/0/args", value: args }];
    await cluster.api("PATCH", deployment, patch, "application/json-patch+json");
  };

  beforeAll(async () => {
    shop = await makeNamespace(cluster, ns);
    await shop.configMap("page", { a: "1" });
    await shop.create(workload("web", reads("page")));
    await helm(cluster, ["install", "wave", chart, "-n", system, "--create-namespace", ...values]);
    await start();
  });
  afterAll(() => stop());

  it("finds nothing where all is well, in all namespaces too", async () => {
    await healthy();
    const { code, checks } = await diagnose("-A");
    expect({ code, bad: checks.filter(({ severity }) => severity !== "ok") }).toEqual({ code: 0, bad: [] });
    expect(checks.map(({ check }) => check)).toContain("webhook");
  });

  it("prints what the page shows", async () => {
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

  it("finds what Wave's account may not do, by the roles that are gone", async () => {
    await cluster.kubectl(["delete", "clusterrole", "wave"]);
    const finding = await found("permissions", /^its account wave may not list, watch and get secrets$/);
    await follow(finding);
    await lead();
    await healthy();
  });

  it("finds that nobody leads and that the webhook is not reached, and never tells its path", async () => {
    await merge(configuration, {
      webhooks: (await cluster.api<{ webhooks: object[] }>("GET", configuration)).webhooks.map((each) => ({
        ...each,
        failurePolicy: "Fail",
        timeoutSeconds: 1,
      })),
    });
    await stop();
    expect(await found("leader", /does not renew the Lease$/)).toMatchObject({
      where: { kind: "Lease", namespace: system, name: "wave" },
    });
    const { what } = await found("webhook", /the API server does not reach Wave: /);
    expect(what).toContain("/mutate/…");
    expect(what).not.toMatch(/mutate\/\w/);
    await merge(configuration, {
      webhooks: (await cluster.api<{ webhooks: object[] }>("GET", configuration)).webhooks.map((each) => ({
        ...each,
        failurePolicy: "Ignore",
      })),
    });
    await found("webhook", /came back without a hash/);
    const { certificate } = createAuthority("somebody", {
      notBefore: Date.now() - 1_000,
      notAfter: Date.now() + 86_400_000 * 30,
    });
    const value = Buffer.from(certificate.pem).toString("base64");
    const patch = [{ op: "replace", path: "/webhooks/0/clientConfig/caBundle", value }];
    await cluster.api("PATCH", configuration, patch, "application/json-patch+json");
    await found("webhook", /its caBundle does not trust the certificate of Secret wave-webhook-authority/);
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
    await found("webhook", /its certificate expired (59m|60m|1h) ago/);
    // Wave puts all of that right where it runs.
    await start();
    await healthy();
  });

  it("finds a webhook configuration that is gone, left over, or without endpoints", async () => {
    await cluster.api("DELETE", configuration);
    await follow(await found("webhook", /the API server asks Wave about no workload$/));
    await lead();
    await healthy();
    await merge(service, { spec: { type: "ClusterIP", externalName: null, selector: { none: "such" } } });
    await found("webhook", /^it has no ready endpoint/);
    await lead();
    const args = await argsOf();
    await setArgs(args.filter((arg) => !arg.includes("webhook")));
    expect(await found("webhook", /^it is left over/)).toMatchObject({
      severity: "warning",
      fix: "kubectl delete mutatingwebhookconfiguration/wave-webhook",
    });
    await setArgs(args);
    await healthy();
  });

  it("finds replicas that are not there, and says why their Pods are not ready", async () => {
    await cluster.kubectl(["-n", system, "scale", "deployment/wave", "--replicas=0"]);
    await follow(await found("wave", /^it is scaled to 0: nothing is rolled$/));
    await healthy();
    const { spec } = await cluster.api<AnyObject & { spec: { strategy: object } }>("GET", deployment);
    const nowhere = { template: { spec: { nodeSelector: { none: "such" } } } };
    await merge(deployment, { spec: { ...nowhere, strategy: { type: "Recreate", rollingUpdate: null } } });
    expect(await found("wave", /^0 of 2 replicas are ready: no node was found for its Pod$/)).toMatchObject({
      severity: "problem",
    });
    await merge(deployment, { spec: { template: { spec: { nodeSelector: null } }, strategy: spec.strategy } });
    await healthy();
  });

  it("finds flags that are none, and namespaces that do not exist", async () => {
    const args = await argsOf();
    await setArgs([...args, `--namespaces=${ns},gone`, "--setle=1s"]);
    await found("flags", /^its flags are refused: unknown flag "--setle"; did you mean --settle\?$/);
    await setArgs([...args, `--namespaces=${ns},gone`]);
    await follow(await found("flags", /^--namespaces names gone, which does not exist$/));
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
    const second = await found(
      "wave",
      /^deployment\/wave in wave-system rolls the same workloads$|^deployment\/second in shop rolls/,
    );
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
    const both = await found("others", /^Stakater's Reloader runs, and 1 workload asks both it and Wave/);
    expect(both.severity).toBe("warning");
    const args = await argsOf();
    await setArgs([...args, "--compatibility=wave,stakater"]);
    await follow(await found("others", /^Stakater's Reloader runs, and Wave rolls by the same annotations/));
    await setArgs(args);
    await healthy();
  });

  it("finds workloads that wait, and annotations that never reach Wave", async () => {
    await shop.create(
      workload("mail", { containers: [{ name: "app", image: "nginx", envFrom: [{ secretRef: { name: "db" } }] }] }),
    );
    const waiting = await found("workloads", /^waiting for Secret "db"$/);
    expect(waiting).toMatchObject({ severity: "problem", where: { kind: "Deployment", namespace: ns, name: "mail" } });
    await follow({ fix: (waiting.fix ?? "").replace("KEY=FILE", "password=/etc/hostname") });
    const optIn = "wave.pusher.com/update-on-config-change";
    const label = { ...workload("label", reads("page")), metadata: { name: "label", labels: { [optIn]: "true" } } };
    await shop.create(label);
    await shop.create(
      workload("prefix", reads("page"), { annotations: { [optIn]: "", "waves.pusher.com/hold": "true" } }),
    );
    await follow(await found("annotations", /^label /));
    await follow(await found("annotations", /^annotation "waves\.pusher\.com\/hold" does nothing/));
    await healthy();
    const { out } = await shell(`wave list -n ${ns}`);
    expect(out).toMatch(/^deployment\/label +current /m);
  });

  it("finds the finalizer of an early Wave", async () => {
    const web = `/apis/apps/v1/namespaces/${ns}/deployments/web`;
    await merge(web, { metadata: { finalizers: ["wave.pusher.com/finalizer"] } });
    expect(await found("leftovers", /^finalizer wave\.pusher\.com\/finalizer is of an old Wave/)).toMatchObject({
      severity: "warning",
    });
    await merge(web, { metadata: { finalizers: null } });
    await healthy();
  });

  it("says to somebody with little permission what was not checked, and checks the rest", async () => {
    const rule = { apiGroups: ["", "apps"], resources: ["configmaps", "deployments"], verbs: ["get", "list"] };
    const kubeconfig = join(
      await temporaryFiles({ kubeconfig: await makeAccount(cluster, ns, "reader", rule) }),
      "kubeconfig",
    );
    const { code, checks, findings } = await diagnose(`-n ${ns}`, kubeconfig);
    expect(code).toBe(3);
    expect(findings.filter(({ severity }) => severity !== "unchecked")).toEqual([]);
    expect(findings.map(({ what }) => what)).toContain(
      "you may not list statefulsets, daemonsets, secrets and pods in shop: what hangs on them is not known here",
    );
    expect(findings.map(({ what }) => what)).toContain(
      "which Wave runs, with which flags, permissions, leader and webhook: you may not list deployments in all namespaces",
    );
    const { out } = await shell(`wave doctor -n ${ns} >/dev/null`, kubeconfig);
    expect(out).toMatch(
      /^warning: access, wave, .* could not be checked in full: that takes "list statefulsets in shop", /,
    );
    expect(checks).toContainEqual({ check: "api", severity: "ok", summary: expect.stringMatching(/^Kubernetes v1\./) });
  });
});
