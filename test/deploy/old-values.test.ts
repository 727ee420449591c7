import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { parseRunArguments } from "../../src/cli/run/run-arguments.ts";
import { helm } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { chart, deploymentIn, manifestsIn, ofKind } from "./rendered.ts";

const file = join(import.meta.dirname, "fixtures/values-of-wave-0.11.yaml");
const old = parse(readFileSync(file, "utf8"));
const { appVersion } = parse(readFileSync(join(chart, "Chart.yaml"), "utf8"));

describeOnControlPlane("a values file of Wave 0.11", (cluster) => {
  const install = (...args: readonly string[]) =>
    helm(cluster, ["install", "wave", chart, "-n", "wave-system", "--dry-run=client", "-f", file, ...args]);

  it("has the same effect", async () => {
    const manifests = manifestsIn(
      await helm(cluster, ["template", "wave", chart, "--kube-version", "1.30.0", "--no-hooks", "-f", file]),
    );
    const deployment = deploymentIn(manifests);
    expect(deployment).toMatchObject({
      metadata: { annotations: old.annotations },
      spec: { replicas: 3, template: { metadata: { annotations: old.podAnnotations, labels: old.podLabels } } },
    });
    const { spec } = deployment.spec.template;
    const { nodeSelector, tolerations, affinity, topologySpreadConstraints, securityContext } = old;
    expect(spec).toMatchObject({
      ...{ nodeSelector, tolerations, affinity, topologySpreadConstraints, securityContext },
      imagePullSecrets: old.global.imagePullSecrets,
      serviceAccountName: "wave",
      volumes: old.extraVolumes,
    });
    const [{ args, resources, volumeMounts, imagePullPolicy }] = spec.containers;
    expect({ resources, volumeMounts }).toEqual({ resources: old.resources, volumeMounts: old.extraVolumeMounts });
    expect(imagePullPolicy).toBe("Always");
    expect(parseRunArguments(args.slice(1), { POD_NAMESPACE: "wave-system" })).toMatchObject({
      ...{ syncPeriodMs: 36_000_000, updateRate: 2.5, updateBurst: 200, webhooks: {}, leaderElection: {} },
    });
    for (const kind of ["PodDisruptionBudget", "ServiceAccount", "ClusterRole", "MutatingWebhookConfiguration"]) {
      expect(ofKind(kind, manifests), kind).not.toEqual([]);
    }
  });

  it("names an unsupported image, which the chart ignores and reports", async () => {
    const said = await install();
    expect(said).toContain(`image: "wave:${appVersion}"`);
    expect(said).toMatch(/Your values name an image of Wave 0\.11 or earlier/);
    await expect(install("--set", "image.repository=r/wave,image.name=,image.tag=")).resolves.not.toContain("0.11");
  });

  it("can switch off the roles", async () => {
    const args = ["template", "wave", chart, "--kube-version", "1.30.0", "-f", file];
    const manifests = manifestsIn(await helm(cluster, [...args, "--set", "global.rbac.enabled=false"]));
    expect(manifests.filter(({ kind }) => /Role/.test(kind))).toEqual([]);
  });
});
