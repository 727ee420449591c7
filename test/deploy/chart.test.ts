import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { Compatibility, CompatibilitySettings } from "../../src/domain/compatibility/directive.ts";
import { webhookConfiguration } from "../../src/webhook/certificates/configuration.ts";
import { helm } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { grantsOf, objectsOf } from "./grants.ts";
import { chart, deploy, deploymentIn, manifestsIn, ofKind, policyApi, rendered, renderedAs } from "./rendered.ts";

const { version } = JSON.parse(readFileSync(join(deploy, "../package.json"), "utf8"));

function settings(understood: readonly Compatibility[], autoReloadAll = false): CompatibilitySettings {
  return { understood, autoReloadAll, reloadOnCreate: false, reloadOnDelete: false };
}

describe("the chart", () => {
  it("has the version of Wave, like its image", () => {
    expect(parse(readFileSync(join(chart, "Chart.yaml"), "utf8"))).toMatchObject({ version, appVersion: version });
  });
});

describeOnControlPlane("the chart", (cluster) => {
  it("passes helm lint", async () => {
    const lint = helm(cluster, ["lint", "--strict", "--kube-version", "1.30.0", chart]);
    await expect(lint).resolves.toMatch(/0 chart\(s\) failed/);
  });

  it.for([
    ["replicas=two", "/replicas"],
    ["image=wave:1", "/image"],
    ["image.repository=", "/image/repository"],
    ["image.digest=sha256:1", "/image/digest"],
    ["webhooks.enabled=perhaps", "/webhooks/enabled"],
    ["webhooks.timeoutSeconds=31", "/webhooks/timeoutSeconds"],
    ["namespaces={Shop}", "/namespaces/0"],
    ["namespaces={shop,shop}", "/namespaces"],
    ["updateBurst=0", "/updateBurst"],
    ["syncPeriod=5x", "/syncPeriod"],
    ["window=Mo-Fr 22-4", "/window"],
    ["networkPolicy.enabled=true,hostNetwork=true", "Set one of them to false"],
    ["crossNamespace=some", "/crossNamespace"],
    ["logLevels=debug", "logLevels"],
    ["extraArgs={update-rate=5}", "/extraArgs/0"],
    // Objects of the chart must agree with these.
    ["extraArgs={--namespaces=shop}", "/extraArgs/0"],
    ["extraArgs={--enable-webhooks}", "/extraArgs/0"],
    ["extraArgs={--webhook-service-name=other}", "/extraArgs/0"],
    ["extraArgs={--hash-key-secret=other/name}", "/extraArgs/0"],
    ["hashKeySecret=other/name", "/hashKeySecret"],
    ["extraArgs={--leader-election-id=other}", "/extraArgs/0"],
    ["extraArgs={--health-probe-bind-address=:1}", "/extraArgs/0"],
    ["resource.limits.memory=1Gi", "resource"],
    ["metrics.service.enabled=true,metricsBindAddress=0", "metricsBindAddress is 0"],
    ["compatibility={reloader}", "/compatibility/0"],
    ["leaderElection.enabled=false", "Set replicas to 1"],
    ["accountPolicy.enabled=true,workloadKinds={jobs.batch}", "Remove jobs.batch from workloadKinds"],
    ["accountPolicy.enabled=true,workloadKinds={batch/v1/jobs}", "Remove jobs.batch from workloadKinds"],
    ["accountPolicy.enabled=true,workloadKinds={cronjobs.batch}", "Remove cronjobs.batch from workloadKinds"],
    [
      "accountPolicy.enabled=true,workloadKinds={batch/v1/cronjobs=/spec/jobTemplate/spec/template}",
      "Remove cronjobs.batch from workloadKinds",
    ],
    ["webhooks.enabled=true,webhooks.certManager.enabled=true", "kubectl create secret generic wave-webhook-token"],
  ] as const)("rejects the value %s and names the place", async ([value, where]) => {
    await expect(rendered(cluster, value)).rejects.toThrow(where);
  });

  it("can be a dependency of another chart, with the switch enabled and any global values", async () => {
    const global = { team: "shop", rbac: { create: true, pspEnabled: false } };
    expect(await rendered(cluster, { enabled: true, global })).toEqual(await rendered(cluster));
  });

  it.for([
    ["in all namespaces", [], undefined],
    ["in two namespaces", ["namespaces={shop,payments}"], ["shop", "payments"]],
    ["with compatibility sap", ["compatibility={wave,sap}"], undefined, settings(["wave", "sap"])],
    [
      "with all three compatibilities",
      ["compatibility={wave,sap,stakater}"],
      undefined,
      settings(["wave", "sap", "stakater"]),
    ],
    ["with autoReloadAll", ["compatibility={stakater},autoReloadAll=true"], undefined, settings(["stakater"], true)],
  ] as const)("registers the webhook like Wave itself, %s", async ([, values, namespaces, compatibility]) => {
    const [configuration] = ofKind(
      "MutatingWebhookConfiguration",
      await rendered(cluster, "webhooks.enabled=true", ...values),
    );
    const name = "wave-webhook";
    const clientConfig = { service: { name, namespace: "wave-system", port: 443 } };
    const own = webhookConfiguration({ name, clientConfig, namespaces, compatibility });
    expect(configuration).toMatchObject({ apiVersion: own.apiVersion, metadata: { name } });
    expect(configuration?.webhooks).toEqual(own.webhooks);
  });

  it.for([
    ["in all namespaces", [], undefined],
    ["in two namespaces", ["namespaces={shop,payments}"], ["shop", "payments"]],
    ["also with failurePolicy Fail", ["webhooks.failurePolicy=Fail"], undefined],
  ] as const)("registers the webhook for Pods like Wave itself, %s", async ([, values, namespaces]) => {
    const manifests = await rendered(cluster, "webhooks.enabled=true", "pinConfig.enabled=true", ...values);
    const [configuration] = ofKind("MutatingWebhookConfiguration", manifests);
    const name = "wave-webhook";
    const clientConfig = { service: { name, namespace: "wave-system", port: 443 } };
    const own = webhookConfiguration({ name, clientConfig, namespaces, pinConfig: true });
    expect(configuration?.webhooks).toEqual([expect.anything(), own.webhooks[1]]);
    expect(ofKind("MutatingAdmissionPolicy", manifests)).toEqual([]);
    expect(ofKind("ValidatingAdmissionPolicy", manifests)).toHaveLength(1);
  });

  it("points Pods by a policy, and not by the webhook, if the API server has such policies", async () => {
    const kubernetes = ["--kube-version", "1.36.0", "--api-versions", policyApi];
    const values = ["--set", "webhooks.enabled=true,pinConfig.enabled=true,namespaces={shop}"];
    const text = await helm(cluster, ["template", "wave", chart, "-n", "wave-system", ...kubernetes, ...values]);
    const manifests = manifestsIn(text);
    const [policy] = ofKind("MutatingAdmissionPolicy", manifests);
    const shop = { key: "kubernetes.io/metadata.name", operator: "In", values: ["shop"] };
    expect(policy).toMatchObject({
      spec: {
        failurePolicy: "Ignore",
        reinvocationPolicy: "Never",
        matchConstraints: { namespaceSelector: { matchExpressions: [shop] } },
      },
    });
    const [configuration] = ofKind("MutatingWebhookConfiguration", manifests);
    expect(configuration?.webhooks).toHaveLength(1);
  });

  it("cannot pin configuration if neither a policy nor the webhook can point Pods", async () => {
    await expect(rendered(cluster, "pinConfig.enabled=true")).rejects.toThrow(
      "pinConfig.enabled needs Kubernetes 1.36 or webhooks.",
    );
  });

  it("registers the webhook for the selected namespaces and workloads, within the watched namespaces", async () => {
    const webhooks = {
      enabled: true,
      failurePolicy: "Fail",
      timeoutSeconds: 3,
      annotations: { a: "b" },
      namespaceSelector: {
        matchLabels: { team: "shop" },
        matchExpressions: [{ key: "old", operator: "DoesNotExist" }],
      },
      objectSelector: { matchLabels: { tier: "web" } },
    };
    const manifests = await rendered(cluster, { webhooks }, "namespaces={shop}");
    const [configuration] = ofKind("MutatingWebhookConfiguration", manifests);
    const served = { key: "kubernetes.io/metadata.name", operator: "In", values: ["shop"] };
    const { matchLabels, matchExpressions } = webhooks.namespaceSelector;
    expect(configuration).toMatchObject({
      metadata: { annotations: { a: "b" } },
      webhooks: [
        {
          failurePolicy: "Fail",
          timeoutSeconds: 3,
          namespaceSelector: { matchLabels, matchExpressions: [...matchExpressions, served] },
          objectSelector: webhooks.objectSelector,
        },
      ],
    });
  });

  it("grants the same permissions in each watched namespace as in all, and then cluster-wide only Namespaces and the webhook", async () => {
    const everywhere = ofKind("ClusterRole", await rendered(cluster, "webhooks.enabled=true"));
    const limited = await rendered(cluster, "webhooks.enabled=true", "namespaces={shop}");
    const inShop = ofKind("Role", limited).filter(({ metadata }) => metadata.namespace === "shop");
    const clusterWide = ["wave-namespaces", "wave-webhook-configuration"];
    const shared = everywhere.filter(({ metadata }) => !clusterWide.includes(metadata.name));
    expect(inShop.map(({ metadata, rules }) => [metadata.name, rules])).toEqual(
      shared.map(({ metadata, rules }) => [metadata.name, rules]),
    );
    const [namespaces, ...others] = ofKind("ClusterRole", limited);
    expect(namespaces?.rules).toEqual([
      { apiGroups: [""], resources: ["namespaces"], resourceNames: ["shop", "wave-system"], verbs: ["list", "watch"] },
    ]);
    expect(others.map(({ metadata }) => metadata.name)).toEqual(["wave-webhook-configuration"]);
  });

  it("grants exactly the permissions of docs/security.md", async () => {
    const everything =
      "webhooks.enabled=true,pinConfig.enabled=true,hashKeySecret=wave-hash-key,ownerReferences=true,enableCsiIntegration=true,workloadKinds={cronjobs.batch,jobs.batch}";
    const all = grantsOf(await rendered(cluster, everything));
    // This role is for users.
    const granted = all
      .filter(({ role }) => role !== "wave-lease-reader")
      .map(({ role, verb, ...what }) => [role, objectsOf(what), verb].join(" "));
    const page = readFileSync(join(deploy, "../docs/security.md"), "utf8");
    const rows = page.matchAll(/^\| `(.*?)` \| (.*?) \| (.*?) \| \S.*? \| .*\|$/gm);
    const explained = Array.from(rows, ([, role, resources = "", verbs = ""]) =>
      resources.split(", ").flatMap((what) => verbs.split(", ").map((verb) => `${role} ${what} ${verb}`)),
    );
    // The hook before `helm uninstall` has its own test.
    const ofWave = explained.flat().filter((each) => !each.startsWith("wave-uninstall"));
    expect([...new Set(ofWave)].toSorted()).toEqual([...new Set(granted)].toSorted());
  });

  it("permits the annotation of SAP only with compatibility sap", async () => {
    const policies = async (...values: string[]) =>
      JSON.stringify(
        ofKind("ValidatingAdmissionPolicy", await rendered(cluster, "accountPolicy.enabled=true", ...values)),
      );
    expect(await policies()).not.toContain("sap.com");
    expect(await policies("compatibility={wave,sap}")).toContain("pod-reloader.cs.sap.com/config-hash");
  });

  it("can put the Lease into another namespace, with a role there", async () => {
    const elsewhere = await rendered(cluster, "leaderElection.namespace=elections,leaderElection.id=wave-eu");
    const ofLease = grantsOf(elsewhere).filter(({ resource, names }) => resource === "leases" && names !== undefined);
    expect(new Set(ofLease.map(({ role, namespace, names }) => `${role} in ${namespace}: ${names}`))).toEqual(
      new Set(["wave-leader-election in elections: wave-eu", "wave-lease-reader in elections: wave-eu"]),
    );
    const off = await rendered(cluster, "leaderElection.enabled=false,replicas=1");
    expect([...ofKind("Role", off), ...ofKind("Lease", off)]).toEqual([]);
  });

  it("lets every user read the one Lease, and nothing else", async () => {
    const manifests = await rendered(cluster);
    const granted = grantsOf(manifests).filter(({ role }) => role === "wave-lease-reader");
    expect(granted.map(({ verb, ...what }) => `${verb} ${objectsOf(what)}`)).toEqual([
      "get leases.coordination.k8s.io/wave",
    ]);
    const toAll = manifests.filter((each) => JSON.stringify(each.subjects ?? []).includes("system:authenticated"));
    expect(toAll).toMatchObject([{ kind: "RoleBinding", metadata: { name: "wave-lease-reader" } }]);
  });

  it("installs no Lease, because Wave creates it and Argo CD warns about an installed one", async () => {
    expect(ofKind("Lease", await rendered(cluster))).toEqual([]);
  });

  it("has a PodDisruptionBudget with several replicas, and none with one, which would block a drain", async () => {
    expect(ofKind("PodDisruptionBudget", await rendered(cluster))).toHaveLength(1);
    expect(ofKind("PodDisruptionBudget", await rendered(cluster, "replicas=1"))).toHaveLength(0);
    expect(ofKind("PodDisruptionBudget", await rendered(cluster, "pdb.enabled=false"))).toHaveLength(0);
  });

  it.for([
    ["shop", [], "shop"],
    ["shop", ["nameOverride=wave"], "shop-wave"],
    ["wave-shop", ["nameOverride=wave"], "wave-shop"],
    ["shop", ["fullnameOverride=config", "nameOverride=x"], "config"],
  ] as const)("names the objects of the release %s with %j after %s", async ([release, values, name]) => {
    const manifests = await renderedAs(release, cluster, "webhooks.enabled=true", ...values);
    for (const { kind, metadata } of manifests) expect(`${kind} ${metadata.name}`).toMatch(` ${name}`);
    expect(deploymentIn(manifests).metadata.name).toBe(name);
  });

  it("has the standard labels and commonLabels on every object", async () => {
    const everything = [
      "webhooks.enabled=true,accountPolicy.enabled=true,hashKeySecret=key,networkPolicy.enabled=true",
      "metrics.serviceMonitor.enabled=true,metrics.prometheusRule.enabled=true,metrics.dashboard.enabled=true",
    ];
    const commonLabels = { team: "platform", "app.kubernetes.io/name": "not-this" };
    const manifests = await rendered(cluster, ...everything, { commonLabels });
    const selector = { "app.kubernetes.io/name": "wave", "app.kubernetes.io/instance": "wave" };
    for (const { kind, metadata } of manifests) {
      expect(metadata.labels, `${kind} ${metadata.name}`).toMatchObject({
        ...selector,
        "app.kubernetes.io/version": version,
        "app.kubernetes.io/managed-by": "Helm",
        "helm.sh/chart": `wave-${version}`,
        team: "platform",
      });
    }
    const { spec } = deploymentIn(manifests);
    expect(spec.selector.matchLabels).toEqual(selector);
    expect(spec.template.metadata.labels).toEqual({ ...selector, team: "platform" });
  });
});
