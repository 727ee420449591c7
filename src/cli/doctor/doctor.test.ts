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
  it("says of each thing where it is, what is wrong and what to do, and ends with 1", async () => {
    const { run, env, createWorkload, namespace } = await scene();
    await createWorkload("deployments/api", { envFrom: [{ secretRef: { name: "db" } }] });
    const { code, out, err } = await run("doctor");
    expect(code).toBe(1);
    // The sandbox has no reviews of access.
    expect(err).toMatch(/^warning: access could not be checked in full [^\n]*\n$/);
    expect(out).toMatch(/^workloads {5}problem +1 problem$/m);
    expect(out).toContain(
      [
        `PROBLEM  deployment/api in ${namespace}`,
        '  waiting for Secret "db"',
        `  → kubectl create secret generic db -n ${namespace} --from-file=KEY=FILE`,
        "",
      ].join("\n"),
    );
    const narrow = await runWave(["doctor", "-n", namespace], env, { outputColumns: 80 });
    const sentences = (text: string) => text.split("\n").filter((line) => !line.startsWith("  → "));
    expect(sentences(out).some((line) => line.length > 80)).toBe(true);
    expect(sentences(narrow.out).filter((line) => line.length > 80)).toEqual([]);
  });

  it("says the same for programs", async () => {
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
    // It may tell of seconds.
    await eventually(async () => expect(parse((await run("doctor", "-o", "yaml")).out)).toEqual(await diagnosed()));
    expect(JSON.stringify(diagnosis)).not.toContain(namespace);
  });

  it("finds what never reaches Wave: labels, other prefixes, values that are none", async () => {
    const { createWorkload, found } = await scene();
    const optIn = "wave.pusher.com/update-on-config-change";
    await createWorkload("deployments/label", { annotations: { [optIn]: undefined }, labels: { [optIn]: "true" } });
    await createWorkload("statefulsets/prefix", {
      annotations: { [optIn]: undefined, "wave.pusher.io/update-on-config-change": "true" },
    });
    await createWorkload("daemonsets/value", { annotations: { [optIn]: "yes" } });
    expect((await found("annotations")).toSorted()).toEqual([
      `problem: annotation "wave.pusher.io/update-on-config-change" does nothing; did you mean ${optIn}?`,
      `problem: annotation ${optIn}: "yes" is neither "true" nor "false"; write "true" to opt in`,
      `problem: label "${optIn}" does nothing: Wave reads annotations`,
    ]);
  });

  it("finds it on ConfigMaps and Secrets, too, and shows nothing of what these hold", async () => {
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
      what: 'annotation wave.pusher.com/ignore: "yes" is not "true" or "false"',
      fix: `kubectl edit -n ${namespace} configmap/page`,
      needs: [],
    });
    expect(JSON.stringify(diagnosis)).not.toContain("hunter2");
  });

  it("finds a scheduling hold that is left on a workload which opted out, and none that Wave still keeps", async () => {
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
    expect(await found("leftovers")).toEqual([
      "problem: its Pods stay pending: a scheduling hold of Wave's is left on it, which Wave opens where it runs",
    ]);
    const path = `${sandbox.url}/api/v1/namespaces/${namespace}`;
    const annotations = { "wave.pusher.com/update-on-config-change": "true" };
    const headers = { "content-type": "application/merge-patch+json" };
    await fetch(path, { method: "PATCH", headers, body: JSON.stringify({ metadata: { annotations } }) });
    expect(await found("leftovers")).toEqual([]);
    await merge("deployments/held", {
      metadata: { annotations: { "wave.pusher.com/update-on-config-change": "false" } },
    });
    expect(await found("leftovers")).toHaveLength(1);
  });

  it("tells of the finalizer of an early Wave, but where Wave keeps or removes it itself", async () => {
    const { merge, found, diagnosed } = await scene();
    await merge("deployments/web", { metadata: { finalizers: ["wave.pusher.com/finalizer"] } });
    expect(await found("leftovers")).toEqual([
      expect.stringMatching(/^warning: finalizer wave\.pusher\.com\/finalizer /),
    ]);
    for (const flag of ["--owner-references", "--migrate-legacy"]) {
      const { findings } = await diagnosed(flag);
      expect(findings.filter(({ check }) => check === "leftovers")).toEqual([]);
    }
  });

  it("tells of a kind that Wave is to roll and the API server does not serve", async () => {
    const { createWave, found } = await scene();
    await createWave("--workload-kinds=rollouts.argoproj.io");
    expect(await found("api")).toContain(
      "warning: --workload-kinds names rollouts.argoproj.io, which the API server does not serve: nothing of it is rolled",
    );
  });

  it("tells of the key of hashes that is gone, or not Wave's, and never what is in it", async () => {
    const { createWave, namespace, found } = await scene();
    await createWave(`--hash-key-secret=${namespace}/wave-hash-key`);
    expect(await found("flags")).toEqual([expect.stringMatching(/^problem: it does not exist: /)]);
    const secret = { metadata: { name: "wave-hash-key" }, stringData: { key: "hunter2" } };
    const path = `${sandbox.url}/api/v1/namespaces/${namespace}/secrets`;
    const headers = { "content-type": "application/json" };
    await fetch(path, { method: "POST", headers, body: JSON.stringify(secret) });
    const [told = ""] = await found("flags");
    expect(told).toMatch(/^problem: Secret "wave-hash-key" .* was not made by Wave/);
    expect(told).not.toContain("hunter2");
  });

  it("asks hardly more often for a hundred workloads than for three", async () => {
    const { diagnosed, createWorkload } = await scene();
    const asked = async () => {
      const before = sandbox.requests.length;
      await diagnosed();
      return sandbox.requests.length - before;
    };
    for (const at of [1, 2]) await createWorkload(`deployments/w${at}`);
    const few = await asked();
    for (let at = 3; at < 100; at++) await createWorkload(`deployments/w${at}`);
    // One more page of each list of Deployments, and of Pods.
    expect(await asked()).toBeLessThanOrEqual(few + 6);
  });

  it("says what it could not look at and what that takes, goes on with the rest, and never ends as where all is well", async () => {
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
    expect(out).toMatch(/leader and webhook: you may not list deployments in all namespaces\n/);
    expect(out).toMatch(/^leftovers +unchecked +1 not checked$/m);
    expect(err).toMatch(
      /^warning: access, wave, workloads, annotations, others and leftovers could not be checked in full: that takes "list deployments in all namespaces", [^\n]*\n$/,
    );
    expect(findings).toContainEqual({
      check: "annotations",
      severity: "unchecked",
      where: null,
      what: `what is written on secrets: you may not list secrets in ${namespace}`,
      fix: null,
      needs: [`list secrets in ${namespace}`],
    });
  });

  it("takes nothing for healthy where nothing may be looked at", async () => {
    const { run, namespace } = await scene();
    const match = ({ path }: { readonly path: string }) => path !== "/version";
    const end = sandbox.faults.add({ match, action: { type: "status", status: 403 } });
    const { code, out, err } = await run("doctor");
    end();
    expect(code).toBe(3);
    const results = out.split("\n\n")[0]?.split("\n").slice(1);
    expect(results?.filter((line) => !/ unchecked /.test(line))).toEqual([]);
    expect(err).toContain(`"create selfsubjectaccessreviews"`);
    expect(err).toContain(`"get namespaces/${namespace}"`);
  });

  it("shows a person some of what a program gets all of", async () => {
    const { run, createWorkload, diagnosed } = await scene();
    for (let at = 0; at < 23; at++)
      await createWorkload(`deployments/w${at}`, { envFrom: [{ secretRef: { name: "db" } }] });
    expect((await run("doctor")).out).toContain("\n3 more of workloads: -o json has all.\n");
    expect((await diagnosed()).findings.filter(({ check }) => check === "workloads")).toHaveLength(23);
  });

  it("says that a namespace does not exist", async () => {
    const { env } = await scene();
    const { code, out } = await runWave(["doctor", "-n", "shpo"], env);
    expect(code).toBe(1);
    expect(out).toContain("\nPROBLEM  namespace/shpo\n  it does not exist\n  → kubectl create namespace shpo\n");
  });

  it("ends with 3 where nobody answers, and with 2 where it is called wrongly", async () => {
    const nobody = kubeconfigFile({
      ...sandbox.kubeconfig(),
      clusters: [{ name: "sandbox", cluster: { server: "http://127.0.0.1:1" } }],
    });
    expect((await runWave(["doctor"], { KUBECONFIG: nobody })).code).toBe(3);
    expect(await runWave(["doctor", "deployment/web"], { KUBECONFIG: nobody })).toMatchObject({
      code: 2,
      err: 'error: "deployment/web" is not a flag; -n and -A say where to look\n',
    });
  });
});
