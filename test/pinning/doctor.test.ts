import { execFile } from "node:child_process";
import { afterAll, beforeAll, expect, it } from "vitest";
import { docsAddress } from "../../src/cli/command/help.ts";
import type { Diagnosis } from "../../src/cli/doctor/doctor-output.ts";
import { configHash, pinnedCopyLabel } from "../../src/domain/references/annotations.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until, wave } from "../control-plane/wave-process.ts";
import { container, makeNamespace, type Namespace, workload } from "../end-to-end/objects.ts";
import { policies } from "./pointed.ts";

const [ns, offNamespace] = ["pinned-doctor", "pinned-doctor-off"];
const copy = "web-0123456789";

describeOnControlPlane("wave doctor with pinned configuration", (cluster) => {
  let namespace: Namespace;
  /** Returns the findings of one check in a namespace: `warning: …`. */
  const found = (check: string, inNamespace = ns) =>
    new Promise<readonly string[]>((resolve) => {
      const args = ["doctor", "-o", "json", "--kubeconfig", cluster.kubeconfig, "-n", inNamespace];
      execFile(wave, args, (_error, out) => {
        const { findings }: Diagnosis = JSON.parse(out);
        resolve(
          findings
            .filter((each) => each.check === check)
            .map(({ severity, what, fix }) => `${severity}: ${what} → ${fix}`),
        );
      });
    });
  const policy = async (verb: "apply" | "delete", kind: RegExp) => {
    const documents = (await policies(cluster, ns, `namespaces={${ns}}`)).split(/^---$/m);
    await cluster.kubectl([verb, "-f", "-"], documents.filter((each) => kind.test(each)).join("---\n"));
  };
  const makeWave = async (inNamespace: string, ...flags: readonly string[]) => {
    const labels = { app: "wave", "app.kubernetes.io/name": "wave" };
    await cluster.api("POST", `/apis/apps/v1/namespaces/${inNamespace}/deployments`, {
      metadata: { name: "wave", labels },
      spec: {
        selector: { matchLabels: { app: "wave" } },
        template: {
          metadata: { labels },
          spec: { containers: [{ ...container, args: ["run", `--namespaces=${inNamespace}`, ...flags] }] },
        },
      },
    });
  };

  beforeAll(async () => {
    namespace = await makeNamespace(cluster, ns);
    await makeNamespace(cluster, offNamespace);
    await makeWave(ns, "--pin-config");
    await makeWave(offNamespace);
  });
  afterAll(async () => {
    await policy("delete", /^kind: \w+AdmissionPolicyBinding/m).catch(() => undefined);
    await policy("delete", /^kind: \w+AdmissionPolicy$/m).catch(() => undefined);
  });

  it("reports policies and bindings that are missing, until they are installed", async () => {
    expect(await found("pinning")).toEqual([
      expect.stringMatching(/^warning: Neither a MutatingAdmissionPolicy nor a webhook points new Pods /),
      expect.stringMatching(/^warning: No ValidatingAdmissionPolicy protects pinned copies\. /),
    ]);
    await policy("apply", /^kind: \w+AdmissionPolicy$/m);
    expect(await found("pinning")).toEqual([
      expect.stringMatching(/^warning: The MutatingAdmissionPolicy for new Pods has no binding\. /),
      expect.stringMatching(/^warning: The ValidatingAdmissionPolicy that protects pinned copies has no binding\. /),
    ]);
    await policy("apply", /^kind: \w+AdmissionPolicyBinding$/m);
    expect(await found("pinning")).toEqual([]);
  });

  it("reports copies that remain, and that Pods still read them", async () => {
    expect(await found("pinning", offNamespace)).toEqual([]);
    await cluster.api("POST", `/api/v1/namespaces/${offNamespace}/configmaps`, {
      metadata: { name: copy, labels: { [pinnedCopyLabel]: "true" } },
      immutable: true,
    });
    const remains = "Wave runs without --pin-config, but 1 copy in 1 namespace of pinned configuration remains.";
    expect(await found("pinning", offNamespace)).toEqual([
      `warning: ${remains} No Pod reads them. → kubectl delete configmaps -n ${offNamespace} --selector ${pinnedCopyLabel}=true`,
    ]);
    await cluster.api("POST", `/api/v1/namespaces/${offNamespace}/pods`, {
      metadata: { name: "reader" },
      spec: { containers: [{ ...container, envFrom: [{ configMapRef: { name: copy } }] }] },
    });
    expect(await found("pinning", offNamespace)).toEqual([
      `warning: ${remains} 1 Pod still reads copies, so do not delete them yet. → Restart the workloads of these Pods, then delete the copies: ${docsAddress("pinning", "uninstall")}`,
    ]);
  });

  it("prints how to delete copies whose deletion a policy denies", async () => {
    await cluster.api("POST", `/api/v1/namespaces/${ns}/configmaps`, {
      metadata: { name: copy, labels: { [pinnedCopyLabel]: "true" } },
      immutable: true,
    });
    const args = (...flags: readonly string[]) => {
      const patch = [{ op: "replace", path: "/spec/template/spec/containers/0/args", value: ["run", ...flags] }];
      const path = `/apis/apps/v1/namespaces/${ns}/deployments/wave`;
      return cluster.api("PATCH", path, patch, "application/json-patch+json");
    };
    await args(`--namespaces=${ns}`);
    const next = async () => {
      const [finding = ""] = await found("pinning");
      const [what, fix = ""] = finding.split(" → ");
      // The API server enforces a policy for up to some seconds after the deletion of its binding.
      await until(`the command to succeed: ${fix}`, () => cluster.kubectl(fix.split(" ").slice(1)));
      return what;
    };
    const left = "warning: Wave runs without --pin-config, but 1 copy in 1 namespace of pinned configuration remains.";
    expect(await next()).toBe(
      `${left} No Pod reads them. A policy denies their deletion. Delete its binding first, then run wave doctor again.`,
    );
    expect(await next()).toBe(`${left} No Pod reads them.`);
    expect(await found("pinning")).toEqual([]);
    await args(`--namespaces=${ns}`, "--pin-config");
  });

  it("reports an immutable object that was deleted and created again while Pods read it", async () => {
    const create = (page: string) =>
      cluster.api("POST", `/api/v1/namespaces/${ns}/configmaps`, {
        metadata: { name: "page" },
        immutable: true,
        data: { page },
      });
    await create("old");
    const spec = { containers: [{ ...container, envFrom: [{ configMapRef: { name: "page" } }] }] };
    const metadata = { labels: { app: "web" }, annotations: { [configHash]: `v2:${"0".repeat(64)}` } };
    await namespace.create(workload("web", {}, { spec: { template: { metadata, spec } } }));
    await cluster.kubectl(["-n", ns, "rollout", "status", "deployment/web", "--timeout=90s"]);
    const recreated = async () => (await found("workloads")).filter((each) => each.includes("immutable"));
    expect(await recreated()).toEqual([]);
    await until("a ConfigMap that is newer than the Pods", async () => {
      await namespace.remove("ConfigMap", "page");
      await create("new");
      return (await recreated()).length > 0 ? true : undefined;
    });
    expect(await recreated()).toEqual([
      expect.stringMatching(
        /^warning: This immutable object was deleted and created again: 1 Pod that reads it is older\. /,
      ),
    ]);
  });
});
