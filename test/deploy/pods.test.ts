import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { helm } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { chart, deploymentIn, type Manifest, manifestsIn, ofKind, only, rendered } from "./rendered.ts";

const { appVersion } = parse(readFileSync(join(chart, "Chart.yaml"), "utf8"));
const digest = `sha256:${"a".repeat(64)}`;

describeOnControlPlane("a Pod of the chart", (cluster) => {
  const podSpec = async (...values: Parameters<typeof rendered>[1][]) =>
    deploymentIn(await rendered(cluster, ...values)).spec.template.spec;

  it.for([
    ["nothing", {}, `wave:${appVersion}`],
    ["a repository", { repository: "registry.example:5000/wave" }, `registry.example:5000/wave:${appVersion}`],
    ["a tag", { repository: "r/wave", tag: "2" }, "r/wave:2"],
    ["a digest, which wins over a tag", { repository: "r/wave", tag: "2", digest }, `r/wave@${digest}`],
    ["the name that the chart of 0.11 had for the repository", { name: "r/wave", tag: "2" }, "r/wave:2"],
    [
      "the image of 0.11, which is another program",
      { name: "quay.io/wave-k8s/wave", tag: "v0.11.0" },
      `wave:${appVersion}`,
    ],
    ["the tag of 0.11 with a new repository", { repository: "r/wave", tag: "v0.11.0" }, `r/wave:${appVersion}`],
  ] as const)("runs the image of %s", async ([, image, expected]) => {
    expect((await podSpec({ image })).containers[0].image).toBe(expected);
  });

  it("has the values for scheduling, security and volumes", async () => {
    const pod = {
      nodeSelector: { disk: "ssd" },
      tolerations: [{ key: "a", operator: "Exists" }],
      affinity: { nodeAffinity: {} },
      priorityClassName: "system-cluster-critical",
      securityContext: { runAsUser: 1000 },
    };
    const more = {
      imagePullSecrets: [{ name: "pull" }],
      global: { imagePullSecrets: ["all", { name: "pull" }] },
      containerSecurityContext: { runAsGroup: 3 },
      extraEnv: [{ name: "A", value: "b" }],
      extraVolumes: [{ name: "tmp", emptyDir: {} }],
      extraVolumeMounts: [{ name: "tmp", mountPath: "/tmp" }],
      resources: { limits: { memory: "1Gi" } },
      podAnnotations: { a: "b" },
      podLabels: { c: "d" },
      annotations: { e: "f" },
      "image.pullPolicy": "Always",
    };
    const deployment = deploymentIn(await rendered(cluster, pod, more));
    const { metadata, spec } = deployment.spec.template;
    expect(spec).toMatchObject({
      ...pod,
      imagePullSecrets: [{ name: "all" }, { name: "pull" }],
      volumes: more.extraVolumes,
    });
    expect(spec.containers[0]).toMatchObject({
      imagePullPolicy: "Always",
      volumeMounts: more.extraVolumeMounts,
      securityContext: { runAsGroup: 3, readOnlyRootFilesystem: true },
      resources: { limits: { memory: "1Gi" } },
    });
    expect(spec.containers[0].env).toContainEqual({ name: "A", value: "b" });
    expect(metadata).toMatchObject({ annotations: { a: "b" }, labels: { c: "d" } });
    expect(deployment.metadata.annotations).toEqual({ e: "f" });
  });

  it("is spread over nodes, or by the given constraints, with its own labels as the default selector", async () => {
    const own = { matchLabels: { "app.kubernetes.io/name": "wave", "app.kubernetes.io/instance": "wave" } };
    const zone = { maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "DoNotSchedule" };
    const theirs = { ...zone, labelSelector: { matchLabels: { app: "wave" } } };
    expect((await podSpec()).topologySpreadConstraints).toMatchObject([{ labelSelector: own }]);
    const constraints = (await podSpec({ topologySpreadConstraints: [zone, theirs] })).topologySpreadConstraints;
    expect(constraints).toEqual([{ ...zone, labelSelector: own }, theirs]);
  });

  it("has the ports of its addresses, and no probes if these are off", async () => {
    const ports = async (...values: Parameters<typeof rendered>[1][]) =>
      (await podSpec(...values)).containers[0].ports?.map(({ name, containerPort }) => `${name} ${containerPort}`);
    expect(await ports("webhooks.enabled=true")).toEqual(["metrics 8080", "probes 8081", "webhook 9443"]);
    const addresses = { metricsBindAddress: "[::1]:1", healthProbeBindAddress: 0, webhooks: { bindAddress: ":10250" } };
    expect(await ports(addresses, "webhooks.enabled=true")).toEqual(["metrics 1", "webhook 10250"]);
    expect((await podSpec(addresses)).containers[0]).not.toHaveProperty("readinessProbe");
  });

  it("uses the network of the node with hostNetwork, with the DNS of the cluster, and upgrades without a free node", async () => {
    const pods = await podSpec("hostNetwork=true,webhooks.enabled=true");
    expect(pods).toMatchObject({ hostNetwork: true, dnsPolicy: "ClusterFirstWithHostNet" });
    expect(await podSpec("hostNetwork=true,dnsPolicy=Default")).toMatchObject({ dnsPolicy: "Default" });
    const { spec } = deploymentIn(await rendered(cluster, "hostNetwork=true"));
    expect(spec.strategy).toEqual({ rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } });
    const fields = Object.keys(await podSpec());
    expect(fields.filter((field) => ["hostNetwork", "dnsPolicy"].includes(field))).toEqual([]);
  });

  it("has the labels and annotations for hooks, if a hook runs it", async () => {
    const hooks = { labels: { mesh: "off" }, annotations: { inject: "no" } };
    const set = ["--set", "webhooks.enabled=true", "--set-json", `hooks=${JSON.stringify(hooks)}`];
    const manifests = manifestsIn(
      await helm(cluster, ["template", "wave", chart, "-n", "wave-system", "--kube-version", "1.30.0", ...set]),
    );
    const job = only<Manifest & { spec: { template: Manifest } }>("Job", manifests);
    for (const { metadata } of [job, job.spec.template, only("Pod", manifests)]) {
      // With the defaults, which turn off the sidecars of Istio and Linkerd.
      const labels = { "sidecar.istio.io/inject": "false", ...hooks.labels };
      expect(metadata).toMatchObject({
        labels: { ...labels, "app.kubernetes.io/instance": "wave" },
        annotations: { "linkerd.io/inject": "disabled", ...hooks.annotations },
      });
    }
    // Services and the PodDisruptionBudget select by this label.
    for (const { metadata } of [job.spec.template, only("Pod", manifests)])
      expect(metadata.labels).not.toHaveProperty(["app.kubernetes.io/name"]);
  });

  it("has the configured ServiceAccount", async () => {
    const account = async (serviceAccount: object) => {
      const manifests = await rendered(cluster, { serviceAccount });
      const [binding] = ofKind("ClusterRoleBinding", manifests);
      const name = deploymentIn(manifests).spec.template.spec.serviceAccountName;
      expect(binding).toMatchObject({ subjects: [{ name, namespace: "wave-system" }] });
      return [name, ofKind("ServiceAccount", manifests).map(({ metadata }) => metadata)];
    };
    const annotations = { role: "arn" };
    expect(await account({ annotations })).toMatchObject(["wave", [{ name: "wave", annotations }]]);
    expect(await account({ name: "other" })).toMatchObject(["other", [{ name: "other" }]]);
    expect(await account({ name: "theirs", create: false })).toEqual(["theirs", []]);
    expect(await account({ create: false })).toEqual(["default", []]);
  });

  it("can be installed with extra objects, whose templates know the release", async () => {
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "{{ .Release.Name }}-more" } };
    const manifests = await rendered(cluster, {
      extraObjects: [map, `${JSON.stringify(map).replace("-more", "-text")}`],
    });
    expect(ofKind("ConfigMap", manifests).map(({ metadata }) => metadata.name)).toEqual(["wave-more", "wave-text"]);
  });
});
