import { afterAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { doctorScenes } from "../../../test/support/cli/doctor.ts";
import { kubeconfigFile, runWave } from "../../../test/support/cli/terminal.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { invalidScheduler } from "../../domain/model/scheduling-hold.ts";

const sandbox = await startSandbox();
afterAll(() => sandbox.close());

const scene = doctorScenes(sandbox, "doctor");

describe("wave doctor", () => {
  it("prints object, state and next step of each problem, and ends with 1", async () => {
    const { run, env, createWorkload, namespace } = await scene();
    await createWorkload("deployments/api", { envFrom: [{ secretRef: { name: "db" } }] });
    const { code, out, err } = await run("doctor");
    expect(code).toBe(1);
    // The sandbox has no access reviews.
    expect(err).toMatch(/^warning: Incomplete checks: access\. [^\n]*\n$/);
    expect(out).toMatch(/^workloads {5}problem +1 problem$/m);
    expect(out).toContain(
      [
        `PROBLEM  deployment/api in ${namespace}`,
        '  Waiting for Secret "db".',
        `  → kubectl create secret generic db -n ${namespace} --from-file=KEY=FILE`,
        "",
      ].join("\n"),
    );
    const narrow = await runWave(["doctor", "-n", namespace], env, { outputColumns: 80 });
    const sentences = (text: string) => text.split("\n").filter((line) => !line.startsWith("  → "));
    expect(sentences(out).some((line) => line.length > 80)).toBe(true);
    expect(sentences(narrow.out).filter((line) => line.length > 80)).toEqual([]);
  });

  it("prints the same for programs", async () => {
    const { run, diagnosed, namespace } = await scene();
    const diagnosis = await diagnosed();
    expect(diagnosis).toMatchObject({ version: 1 });
    expect(diagnosis.checks).toContainEqual({
      check: "workloads",
      severity: "ok",
      summary: expect.stringContaining("1 opted in"),
    });
    expect(diagnosis.findings[0]).toMatchObject({
      check: "wave",
      severity: "problem",
      where: null,
      fix: expect.any(String),
    });
    // It may contain seconds.
    await eventually(async () => expect(parse((await run("doctor", "-o", "yaml")).out)).toEqual(await diagnosed()));
    expect(JSON.stringify(diagnosis)).not.toContain(namespace);
  });

  it("finds labels, misspelt prefixes and invalid values", async () => {
    const { createWorkload, found } = await scene();
    const optIn = "wave.pusher.com/update-on-config-change";
    await createWorkload("deployments/label", { annotations: { [optIn]: undefined }, labels: { [optIn]: "true" } });
    await createWorkload("statefulsets/prefix", {
      annotations: { [optIn]: undefined, "wave.pusher.io/update-on-config-change": "true" },
    });
    await createWorkload("daemonsets/value", { annotations: { [optIn]: "yes" } });
    expect((await found("annotations")).toSorted()).toEqual([
      `problem: Annotation "wave.pusher.io/update-on-config-change" has no effect. Did you mean ${optIn}?`,
      expect.stringMatching(/^problem: Annotation wave\.pusher\.com\/update-on-config-change is "yes"/),
      `problem: Label "${optIn}" has no effect. Wave reads annotations, not labels.`,
    ]);
  });

  it("finds them on ConfigMaps and Secrets without printing their values", async () => {
    const { merge, diagnosed, namespace } = await scene();
    const applied = { "kubectl.kubernetes.io/last-applied-configuration": '{"data":{"key":"hunter2"}}' };
    await merge("configmaps/page", {
      metadata: { annotations: { ...applied, "wave.pusher.com/ignore": "yes" } },
      data: { key: "hunter2" },
    });
    const diagnosis = await diagnosed();
    expect(diagnosis.findings).toContainEqual({
      check: "annotations",
      severity: "problem",
      where: { kind: "ConfigMap", namespace, name: "page" },
      what: 'Annotation wave.pusher.com/ignore is "yes", not "true" or "false".',
      fix: `kubectl edit -n ${namespace} configmap/page`,
      needs: [],
    });
    expect(JSON.stringify(diagnosis)).not.toContain("hunter2");
  });

  it("finds a scheduling hold that is left on a workload that opted out", async () => {
    const { merge, createWorkload, found, namespace } = await scene();
    const schedulingHeld = {
      "wave.pusher.com/scheduling-disabled": "",
      "wave.pusher.com/update-on-config-change": undefined,
    };
    const container = { name: "web", image: "nginx", envFrom: [{ configMapRef: { name: "page" } }] };
    const template = {
      metadata: { labels: { app: "held" } },
      spec: { containers: [container], schedulerName: invalidScheduler },
    };
    await createWorkload("deployments/held", { annotations: schedulingHeld, spec: { template } });
    // No Wave runs here that lifts a hold.
    const stranded = expect.stringMatching(/^problem: \d Pods? stays? pending: held-/);
    expect(await found("leftovers")).toEqual([
      stranded,
      "problem: New Pods stay pending, because a scheduling hold of Wave is left over. Wave removes the hold when Wave runs.",
    ]);
    const path = `${sandbox.url}/api/v1/namespaces/${namespace}`;
    const annotations = { "wave.pusher.com/update-on-config-change": "true" };
    const headers = { "content-type": "application/merge-patch+json" };
    await fetch(path, { method: "PATCH", headers, body: JSON.stringify({ metadata: { annotations } }) });
    expect(await found("leftovers")).toEqual([stranded]);
    await merge("deployments/held", {
      metadata: { annotations: { "wave.pusher.com/update-on-config-change": "false" } },
    });
    expect(await found("leftovers")).toHaveLength(2);
  });

  it("reports the finalizer of an old Wave, unless Wave keeps or removes it", async () => {
    const { merge, found, diagnosed } = await scene();
    await merge("deployments/web", { metadata: { finalizers: ["wave.pusher.com/finalizer"] } });
    expect(await found("leftovers")).toEqual([
      expect.stringMatching(/^warning: [Ff]inalizer wave\.pusher\.com\/finalizer /),
    ]);
    for (const flag of ["--owner-references", "--migrate-legacy"]) {
      const { findings } = await diagnosed(flag);
      expect(findings.filter(({ check }) => check === "leftovers")).toEqual([]);
    }
  });

  it("reports a kind that --workload-kinds names and the API server does not serve", async () => {
    const { createWave, found } = await scene();
    await createWave("--workload-kinds=rollouts.argoproj.io");
    expect(await found("api")).toContain(
      "warning: Wave cannot roll rollouts.argoproj.io. --workload-kinds names this kind, but the API server does not serve it.",
    );
  });

  it("reports a hash key that is missing or not from Wave, without printing it", async () => {
    const { createWave, namespace, found } = await scene();
    await createWave(`--hash-key-secret=${namespace}/wave-hash-key`);
    expect(await found("flags")).toEqual([expect.stringMatching(/^problem: The Secret does not exist\. /)]);
    const secret = { metadata: { name: "wave-hash-key" }, stringData: { key: "hunter2" } };
    const path = `${sandbox.url}/api/v1/namespaces/${namespace}/secrets`;
    const headers = { "content-type": "application/json" };
    await fetch(path, { method: "POST", headers, body: JSON.stringify(secret) });
    const [finding = ""] = await found("flags");
    expect(finding).toMatch(/^problem: Secret "wave-hash-key" .* was not created by Wave/);
    expect(finding).not.toContain("hunter2");
  });

  it("makes hardly more requests for a hundred workloads than for three", async () => {
    const { diagnosed, createWorkload } = await scene();
    const requested = async () => {
      const before = sandbox.requests.length;
      await diagnosed();
      return sandbox.requests.length - before;
    };
    for (const at of [1, 2]) await createWorkload(`deployments/w${at}`);
    const few = await requested();
    for (let at = 3; at < 100; at++) await createWorkload(`deployments/w${at}`);
    // One more page of each list of Deployments, and of Pods.
    expect(await requested()).toBeLessThanOrEqual(few + 6);
  });

  it("reports incomplete checks with their missing permissions, runs all others, and ends with 3", async () => {
    const { run, diagnosed, namespace } = await scene();
    const end = sandbox.faults.add({
      match: ({ path }) => /secrets|pods|\/deployments$|namespaces$/.test(path),
      action: { type: "status", status: 403 },
    });
    const { code, out, err } = await run("doctor");
    const { findings } = await diagnosed();
    end();
    expect(code).toBe(3);
    expect(out).toMatch(/^wave +unchecked +1 not checked$/m);
    expect(out).toMatch(
      /leader and webhook of the running Wave were not checked\. You do not have permission to list deployments in all namespaces\.\n/,
    );
    expect(out).toMatch(/^leftovers +unchecked +1 not checked$/m);
    expect(err).toMatch(
      /^warning: Incomplete checks: access, wave, workloads, annotations, others and leftovers\. Missing permissions: "list deployments in all namespaces", [^\n]*\n$/,
    );
    expect(findings).toContainEqual({
      check: "annotations",
      severity: "unchecked",
      where: null,
      what: `Annotations of secrets were not checked. You do not have permission to list secrets in ${namespace}.`,
      fix: null,
      needs: [`list secrets in ${namespace}`],
    });
  });

  it("reports no check as ok if every request is denied", async () => {
    const { run, namespace } = await scene();
    const match = ({ path }: { readonly path: string }) => path !== "/version";
    const end = sandbox.faults.add({ match, action: { type: "status", status: 403 } });
    const { code, out, err } = await run("doctor");
    end();
    expect(code).toBe(3);
    const results = out.split("\n\n").at(-1)?.trimEnd().split("\n").slice(1);
    expect(results?.filter((line) => !/ unchecked /.test(line))).toEqual([]);
    expect(err).toContain(`"create selfsubjectaccessreviews"`);
    expect(err).toContain(`"get namespaces/${namespace}"`);
  });

  it("limits the findings for people, but not for programs", async () => {
    const { run, createWorkload, diagnosed } = await scene();
    for (let at = 0; at < 23; at++)
      await createWorkload(`deployments/w${at}`, { envFrom: [{ secretRef: { name: "db" } }] });
    expect((await run("doctor")).out).toContain("\n3 more findings of check workloads. Show all with -o json.\n");
    expect((await diagnosed()).findings.filter(({ check }) => check === "workloads")).toHaveLength(23);
  });

  it("reports a namespace that does not exist", async () => {
    const { env } = await scene();
    const { code, out } = await runWave(["doctor", "-n", "shpo"], env);
    expect(code).toBe(1);
    expect(out).toContain(
      "\nPROBLEM  namespace/shpo\n  The namespace does not exist.\n  → kubectl create namespace shpo\n",
    );
  });

  it("ends with 3 if the API server is unreachable, and with 2 for a usage error", async () => {
    const unreachable = kubeconfigFile({
      ...sandbox.kubeconfig(),
      clusters: [{ name: "sandbox", cluster: { server: "http://127.0.0.1:1" } }],
    });
    expect((await runWave(["doctor"], { KUBECONFIG: unreachable })).code).toBe(3);
    expect(await runWave(["doctor", "deployment/web"], { KUBECONFIG: unreachable })).toMatchObject({
      code: 2,
      err: 'error: unexpected argument "deployment/web"; use -n NAMESPACE or -A\n',
    });
  });
});
