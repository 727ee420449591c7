import { readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { temporaryFiles } from "../../src/kube/test-files.ts";
import { webhookConfiguration } from "../../src/webhook/configuration.ts";
import { helm } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { chart, deploy, type Manifest, manifestsIn, rendered } from "./rendered.ts";

const { version } = JSON.parse(readFileSync(join(deploy, "../package.json"), "utf8"));

const ofKind = (kind: string, manifests: readonly Manifest[]) => manifests.filter((manifest) => manifest.kind === kind);

describe("the chart", () => {
  it("has the version of Wave, and so has its image", () => {
    const read = (name: string) => parse(readFileSync(join(chart, name), "utf8"));
    expect(read("Chart.yaml")).toMatchObject({ version, appVersion: version });
    expect(read("values.yaml").image).toBe(`wave:${version}`);
  });
});

describeOnControlPlane("the chart", (cluster) => {
  it("has nothing that helm lint finds fault with", async () => {
    const lint = helm(cluster, ["lint", "--strict", "--kube-version", "1.30.0", chart]);
    await expect(lint).resolves.toMatch(/0 chart\(s\) failed/);
  });

  it.for([
    ["replicas=two", "/replicas"],
    ["image=", "/image"],
    ["webhooks.enabled=perhaps", "/webhooks/enabled"],
    ["namespaces={Shop}", "/namespaces/0"],
    ["namespaces={shop,shop}", "/namespaces"],
    ["extraArgs={update-rate=5}", "/extraArgs/0"],
    // Other values decide these, with permissions and ports to match.
    ["extraArgs={--namespaces=shop}", "/extraArgs/0"],
    ["extraArgs={--enable-webhooks}", "/extraArgs/0"],
    ["extraArgs={--webhook-service-name=other}", "/extraArgs/0"],
    ["extraArgs={--hash-key-secret=other/name}", "/extraArgs/0"],
    ["hashKeySecret=other/name", "/hashKeySecret"],
    ["extraArgs={--leader-election-id=other}", "/extraArgs/0"],
    ["extraArgs={--health-probe-bind-address=:1}", "/extraArgs/0"],
    ["resource.limits.memory=1Gi", "resource"],
  ] as const)("refuses the value %s and says where it is wrong", async ([value, where]) => {
    await expect(rendered(cluster, value)).rejects.toThrow(where);
  });

  it.for([
    ["in all namespaces", [], undefined],
    ["in two", ["namespaces={shop,payments}"], ["shop", "payments"]],
  ] as const)("registers the webhook as Wave does itself, %s", async ([, values, namespaces]) => {
    const [configuration] = ofKind(
      "MutatingWebhookConfiguration",
      await rendered(cluster, "webhooks.enabled=true", ...values),
    );
    const name = "wave-webhook";
    const clientConfig = { service: { name, namespace: "wave-system", port: 443 } };
    const own = webhookConfiguration({ name, clientConfig, namespaces });
    expect(configuration).toMatchObject({ apiVersion: own.apiVersion, metadata: { name } });
    expect(configuration?.webhooks).toEqual(own.webhooks);
  });

  it("asks for the same in each of its namespaces as in all, and then for nothing in all but its own webhook", async () => {
    const everywhere = ofKind("ClusterRole", await rendered(cluster, "webhooks.enabled=true"));
    const limited = await rendered(cluster, "webhooks.enabled=true", "namespaces={shop}");
    const inShop = ofKind("Role", limited).filter(({ metadata }) => metadata.namespace === "shop");
    const shared = everywhere.filter(({ metadata }) => metadata.name !== "wave-webhook-configuration");
    expect(inShop.map(({ metadata, rules }) => [metadata.name, rules])).toEqual(
      shared.map(({ metadata, rules }) => [metadata.name, rules]),
    );
    expect(ofKind("ClusterRole", limited).map(({ metadata }) => metadata.name)).toEqual(["wave-webhook-configuration"]);
  });

  it("asks for what examples/permissions.yaml has, no less and no more", async () => {
    const rules = (manifests: readonly Manifest[]) => manifests.map((manifest) => manifest.rules);
    const [all, key, lease] = rules(manifestsIn(readFileSync(join(deploy, "../examples/permissions.yaml"), "utf8")));
    const manifests = await rendered(cluster);
    expect(rules(ofKind("ClusterRole", manifests))).toEqual([all]);
    expect(rules(ofKind("Role", manifests))).toEqual([lease]);
    const withKey = await rendered(cluster, "hashKeySecret=wave-hash-key");
    expect(rules(ofKind("Role", withKey))).toEqual([key, lease]);
  });

  it("has a disruption budget where a replica can be spared, and none where that would block a drain", async () => {
    expect(ofKind("PodDisruptionBudget", await rendered(cluster))).toHaveLength(1);
    expect(ofKind("PodDisruptionBudget", await rendered(cluster, "replicas=1"))).toHaveLength(0);
  });

  it.for([
    ["base", []],
    ["webhooks", ["webhooks.enabled=true"]],
  ] as const)("and kustomize/%s are the same objects, which the API server accepts", async ([overlay, values]) => {
    const folder = join(deploy, "kustomize", overlay);
    expect(manifestsIn(await cluster.kubectl(["kustomize", folder]))).toEqual(await rendered(cluster, ...values));
    await cluster.kubectl(["create", "namespace", "wave-system"]).catch((error: Error) => {
      if (!error.message.includes("AlreadyExists")) throw error;
    });
    const applied = await cluster.kubectl(["apply", "-k", folder, "--dry-run=server"]);
    expect(applied).toContain("deployment.apps/wave created (server dry run)");
  });

  it("follows an overlay of kustomize into another namespace, with its webhook and its bindings", async () => {
    const overlay = {
      namespace: "elsewhere",
      resources: [relative(realpathSync(tmpdir()), join(deploy, "kustomize/webhooks"))].map((path) => `../${path}`),
      images: [{ name: "wave", newName: "registry.example/wave", newTag: "1" }],
    };
    const folder = await temporaryFiles({ "kustomization.yaml": JSON.stringify(overlay) });
    const built = await cluster.kubectl(["kustomize", folder]);
    expect(built).not.toContain("wave-system");
    expect(built).toContain("image: registry.example/wave:1");
    const [configuration] = ofKind("MutatingWebhookConfiguration", manifestsIn(built));
    expect(configuration).toMatchObject({ webhooks: [{ clientConfig: { service: { namespace: "elsewhere" } } }] });
  });
});
